"""The CoDeTT recipe: six stages from scenario to released layout."""
