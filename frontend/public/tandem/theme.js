// Runs before the first paint, as a plain script: a module would let the wrong theme flash.
(() => {
  var chosen = localStorage.getItem("tandem.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
