// The front end of the notebook widget: the page of `catena view` in a frame, and its messages to and from the kernel.
let count = 0;

// Whether the notebook around an element is dark: the first background that is not transparent decides.
function isDark(element) {
  for (let e = element; e; e = e.parentElement || (e.getRootNode() || {}).host) {
    const rgba = (getComputedStyle(e).backgroundColor.match(/[\d.]+/g) || []).map(Number);
    if (rgba.length >= 3 && (rgba.length < 4 || rgba[3] > 0.5))
      return 0.299 * rgba[0] + 0.587 * rgba[1] + 0.114 * rgba[2] < 128;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function render({ model, el }) {
  const name = `${Date.now()}-${count++}`; // of this view: one widget may be shown in several cells
  const frame = document.createElement("iframe");
  frame.title = "catena";
  frame.srcdoc = model.get("page");
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:0;border-radius:6px`;
  const paint = () => {
    const page = frame.contentWindow;
    if (page) page.postMessage({ theme: isDark(el) ? "dark" : "light" }, "*");
  };
  const fromPage = (e) => {
    if (e.source !== frame.contentWindow || !e.data || !e.data.catena) return;
    if (e.data.catena.includes('"open"')) paint(); // the page does not know yet
    model.send({ view: name, text: e.data.catena });
  };
  const fromKernel = (content, buffers) => {
    if (content.view !== name || !frame.contentWindow) return;
    const b = buffers[0];
    const bytes = new Uint8Array(b.buffer || b, b.byteOffset || 0, b.byteLength).slice();
    frame.contentWindow.postMessage(bytes.buffer, "*", [bytes.buffer]);
  };
  addEventListener("message", fromPage);
  model.on("msg:custom", fromKernel);
  const watch = new MutationObserver(paint); // a change of the notebook's theme
  for (const e of [document.documentElement, document.body]) watch.observe(e, { attributes: true });
  el.append(frame);
  return () => {
    removeEventListener("message", fromPage);
    model.off("msg:custom", fromKernel);
    watch.disconnect();
    model.send({ view: name, closed: true });
  };
}
export default { render };
