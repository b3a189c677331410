// Replace the drawn figures by ones that answer to the pointer; the drawings stay when this fails.
const specs = JSON.parse(document.getElementById("specs").textContent);
for (const place of document.querySelectorAll("[data-figure]")) {
  const live = document.createElement("div");
  try {
    await window.vegaEmbed(live, specs[Number(place.dataset.figure)], { ast: true, actions: false, renderer: "svg" });
    place.replaceChildren(live);
    place.dataset.live = "yes";
  } catch (error) {
    console.warn(error);
  }
}
document.documentElement.dataset.figures = "live";
