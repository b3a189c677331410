"""FB8xx: reports, published tables, viewer."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB801": Code(
        "data of a run moved",
        "A run's data are no longer where the run found them.",
        "Say where they are now with --dataset PATH.",
    ),
    "FB802": Code(
        "nothing to show",
        "No run was named, or the runs hold nothing that could be shown together.",
        "Give run folders that `floorbench run` printed.",
    ),
    "FB803": Code(
        "glyph missing",
        "A figure holds a character that no font on this machine can draw.",
        "Install a font with the script, for Chinese for example Debian's fonts-noto-cjk.",
    ),
    "FB804": Code(
        "figure cannot be drawn",
        "There is no figure of that name or format, or its table lacks a column or has no row.",
        "The message names the known figures or the column.",
    ),
    "FB805": Code(
        "request not understood",
        "The page asked for an item, a part or a filter that there is not.",
        "Reload the page; the run may have changed.",
    ),
    "FB806": Code(
        "page cannot be served",
        "The address of the viewer cannot be used on this machine.",
        "Another process may hold the port: choose another with --port, or leave it out.",
    ),
    "FB831": Code(
        "not enough insertions",
        "The texts hold fewer insertions with the roles of the wanted group types than asked for.",
        "Ask for fewer groups, or name a folder with more texts.",
    ),
    "FB832": Code(
        "texts of matched contrasts not usable",
        "A group repeats an insertion, lacks roles, or a context lacks its mark or its user turn.",
        "The message names the group; correct the file of texts.",
    ),
    "FB834": Code(
        "spoken line has another sampling rate",
        "A track that is to be placed was not made at the rate of the set.",
        "Let the speech stage make its tracks at 16 kHz.",
    ),
    "FB836": Code(
        "item takes too long",
        "A stage did not come back within the time that one item may take; its process was killed.",
        "Raise --item-timeout if the stage is slow; the same command tries the item again.",
    ),
    "FB837": Code(
        "dataset, cache and recordings in one another",
        "The dataset lies in the cache or holds it, or one of them lies in recordings to be read.",
        "Choose another folder with --out or --cache; nothing was touched.",
    ),
    "FB838": Code(
        "cache not shared",
        "A worker on another node of the Ray cluster does not see the cache folder of this build.",
        "Name a folder with --cache that all nodes mount at the same path.",
    ),
    "FB841": Code(
        "no listening session here",
        "The folder holds no session of listeners.",
        "Give the folder that `floorbench listen` printed.",
    ),
    "FB842": Code(
        "session of other stimuli",
        "The session was begun with other turns or other lists than these.",
        "Choose another folder with --session; keep turns and lists while people listen.",
    ),
    "FB843": Code(
        "no such participant",
        "Nobody takes part under this id, or everything of theirs has been deleted.",
        "Check the id.",
    ),
    "FB844": Code(
        "participant cannot begin",
        "The id is not an id, has already heard a list, or consent is missing.",
        "Use a fresh id of small letters and digits, never a name.",
    ),
    "FB845": Code(
        "recording has a hole",
        "Parts of a microphone recording never arrived.",
        "Reload the page; the turn is played again.",
    ),
    "FB846": Code(
        "session journal damaged",
        "A line of a participant's journal is not what this program wrote.",
        "Restore the file; nothing is skipped silently.",
    ),
    "FB847": Code(
        "corrected onsets not usable",
        "A TextGrid of responses lacks its tier or has been cut differently from the recording.",
        "Keep the tier 'responses'; delete the file to have the onsets found again.",
    ),
    "FB851": Code(
        "recipe setting unknown or out of range",
        "A recipe has no such setting, or the value cannot be used.",
        "`floorbench show RECIPE` lists the settings of a recipe with their ranges.",
    ),
    "FB852": Code(
        "recipe breaks its contract",
        "A stage returned something else than an outcome, an id appears twice, or an item is lost.",
        "Correct the recipe; see the guide on building data.",
    ),
    "FB853": Code(
        "build in progress",
        "Another process is building into the same folder.",
        "Wait for it, or choose another folder with --out.",
    ),
    "FB854": Code(
        "stage cannot start",
        "A stage raised an error or ended its process while it loaded its models.",
        "The message carries the stage's own reason; finished items are kept.",
    ),
    "FB855": Code(
        "folder is not a build",
        "The output folder exists and holds something that no build has written.",
        "Choose another folder with --out, or move your files out of it; nothing was touched.",
    ),
    "FB856": Code(
        "sound cannot be kept or read",
        "Samples are not mono, not finite or beyond full scale, or a stored sound is damaged.",
        "Scale the named sound first; a damaged stored sound is made again by the next build.",
    ),
    "FB857": Code(
        "nothing came through",
        "Every item was rejected or failed, so there is no dataset to write.",
        "Read the reasons in the table; loosen a threshold or repair the failing stage.",
    ),
    "FB858": Code(
        "build cannot be written",
        "The operating system refuses to write: the disk is full, or there is no permission.",
        "Free space and give the same command again; it goes on with what is finished.",
    ),
    "FB859": Code(
        "recipe cannot be loaded",
        "The Python file of a recipe is missing, does not run, or lacks the named recipe.",
        "Give `path/to/file.py:NAME`, and run the file by itself to see its own error.",
    ),
    "FB861": Code(
        "bad setting for writing dialogues",
        "A language, label, count, threshold, sampling value or prompt version is out of range.",
        "The message names the value; the hint names what is allowed.",
    ),
    "FB862": Code(
        "item without a usable dialogue",
        "A stage got an item whose language, label or dialogue is missing or of another kind.",
        "Let a writing stage run before it; seeds come with language, label and number.",
    ),
    "FB863": Code(
        "model gave no answer",
        "A call to a writing or judging model timed out or lost its connection, all tries used up.",
        "Run the build again: what is done is kept, and only the failed items are asked for.",
    ),
    "FB864": Code(
        "writer judges itself",
        "The same model of the same service was named for writing dialogues and for judging them.",
        "Name another model as judge.",
    ),
    "FB871": Code(
        "speech cannot be made this way",
        "A voice cannot do what is asked: clone, speak a language, take an emotion or a speed.",
        "Choose a provider that can, or leave the request out.",
    ),
    "FB872": Code(
        "speech provider failed",
        "A voice, a recogniser or its server gave an error or an answer that is none.",
        "The message holds the provider's own words; the item is tried again in the next run.",
    ),
    "FB873": Code(
        "speech service refused the key",
        "A speech server needs a key that is not set, or refuses the one that is.",
        "Put the key into the named environment variable; keys are never options or files.",
    ),
    "FB874": Code(
        "words cannot be timed",
        "Neither the voice nor an aligner can say when a word of the utterance ends.",
        "Use a voice with word times, or install an aligner; times are never guessed.",
    ),
    "FB875": Code(
        "speech settings not usable",
        "A pool of voices is empty or shares a voice with another, or a band or threshold is off.",
        "The message names the voice or the value.",
    ),
    "FB876": Code(
        "transcript cannot be compared",
        "There is no normaliser for the language, or nothing is left of the text after it.",
        "English and Mandarin are supported; check the named text.",
    ),
    "FB881": Code(
        "no recording to mix",
        "A folder of noise or babble is missing, or no recording has a usable licence and a kind.",
        "Prepare it with `floorbench assets get speech`, or describe the files in `credits.json`.",
    ),
    "FB882": Code(
        "credits unreadable",
        "The `credits.json` of a folder of recordings is not a JSON object of file name to object.",
        "Correct the file; each entry has author, source, licence and kind.",
    ),
    "FB883": Code(
        "recording unusable",
        "A recording of a pool cannot be decoded, is silent, or a clean track is missing.",
        "Remove or replace the recording.",
    ),
    "FB884": Code(
        "sound setting outside its range",
        "A scene, a range of a scene or a telephone law is unknown or out of order.",
        "Give two ascending numbers, or one of the names in the hint.",
    ),
    "FB885": Code(
        "mining rule out of range",
        "A threshold of the rules that propose candidates cannot be used.",
        "Give lengths in seconds; the longest target is at least as long as the shortest.",
    ),
    "FB886": Code(
        "no two-channel corpus",
        "Candidates are mined from two-channel sessions; this dataset has none.",
        "Name the reader of a two-channel format; `floorbench list datasets` shows them.",
    ),
    "FB887": Code(
        "verdicts unreadable",
        "The file of review verdicts is missing, broken, or says two things of one item.",
        "Export it again with `floorbench review`.",
    ),
    "FB891": Code(
        "nothing to review",
        "No item can be drawn, a sampling plan is out of range, or the labels cannot be reviewed.",
        "Give --share above 0 and at most 1, or --per-scenario 1 or more, and labelled data.",
    ),
    "FB892": Code(
        "review of other data",
        "The review was begun with other items or with another sampling plan.",
        "Choose another folder with --session, or leave the plan out to go on with the old one.",
    ),
    "FB893": Code(
        "no review here",
        "The folder holds no review.",
        "Give the folder that `floorbench review` printed.",
    ),
    "FB894": Code(
        "answer not possible",
        "The label does not fit the item, the item has been adjudicated, or there is nothing to "
        "decide; who has items left to label may not see the labels of others.",
        "Label all items first, then adjudicate; reload the page when it is out of date.",
    ),
    "FB895": Code(
        "review journal damaged",
        "A line of a journal is not what this program wrote, or names an item that is not in the "
        "plan.",
        "Restore the file; nothing is skipped silently.",
    ),
}
