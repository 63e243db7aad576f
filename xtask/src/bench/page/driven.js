// What somebody does who reads a page: it opens, text is searched, and a range is drawn over the lanes. PORT is told how long that took.
(async () => {
  const frame = () => new Promise(requestAnimationFrame), told = [];
  const drawn = performance.getEntriesByName("jtrace-drawn")[0];
  told.push(drawn ? drawn.startTime : NaN);
  await frame();
  const searches = [];
  for (const text of ["m", "me", "method11", "/Service1.*method/", "nothing at all", "Service1"]) {
    const start = performance.now();
    page.search(text);
    document.body.getBoundingClientRect();
    searches.push(performance.now() - start);
    await frame();
  }
  page.search("");
  told.push(...searches.sort((a, b) => a - b).filter((_, at) => at === 2 || at === 5));
  const over = document.querySelectorAll(".u-over")[1], place = over.getBoundingClientRect();
  const mouse = (name, part) => over.dispatchEvent(new MouseEvent(name, { button: 0, clientX: place.left + place.width * part, clientY: place.top + 9, movementX: 9, bubbles: true }));
  mouse("mousemove", 0.1);
  mouse("mousedown", 0.1);
  await frame();
  const FRAMES = 120, first = await frame();
  let before = first, longest = 0;
  for (let at = 0; at < FRAMES; at++) {
    mouse("mousemove", 0.1 + 0.6 * at / FRAMES);
    const now = await frame();
    longest = Math.max(longest, now - before);
    before = now;
  }
  told.push((before - first) / FRAMES, longest);
  new Image().src = "http://127.0.0.1:PORT/told/" + told.join("/");
})();
