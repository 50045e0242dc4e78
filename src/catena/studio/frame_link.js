// FrameLink: what a page inside a notebook has in place of a WebSocket. The page is a frame; the notebook, its parent, passes messages on.
class FrameLink {
  constructor() {
    this.readyState = 1;
    addEventListener("message", (e) => {
      if (e.source !== parent) return;
      if (e.data.theme) paint(e.data.theme);
      else this.onmessage({ data: e.data });
    });
    setTimeout(() => {
      this.onopen();
      this.send(JSON.stringify({ kind: "open" }));
    });
  }
  send(text) {
    parent.postMessage({ catena: text }, "*");
  }
}
// The colours of the notebook in place of those of the system: the rules for dark systems apply, or they do not.
const darkRules = [...document.styleSheets]
  .flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"));
function paint(theme) {
  for (const rule of darkRules) rule.media.mediaText = theme === "dark" ? "all" : "not all";
  document.documentElement.style.colorScheme = theme;
}
window.openLink = () => new FrameLink();
