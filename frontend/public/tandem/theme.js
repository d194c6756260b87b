// Runs before the first paint, as a plain script: a module would let the wrong theme, density or rail flash.
(() => {
  const { dataset } = document.documentElement;
  for (const [name, choices] of [["theme", ["light", "dark"]], ["density", ["compact"]], ["rail", ["narrow"]]]) {
    const chosen = localStorage.getItem(`tandem.${name}`);
    if (choices.includes(chosen)) dataset[name] = chosen;
  }
})();
