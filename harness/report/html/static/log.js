/* Of a log: which of its lines are shown. */
// --- a log is cut into commands with their replies when it is filtered first ---
var stream = D.getElementById("stream");
function lines() {
  var found = [], line = D.createElement("span");
  function end() {
    line.append("\n");
    found.push(line);
    line = D.createElement("span");
  }
  [].slice.call(stream.childNodes).forEach(function (x) {
    if (x.nodeType != 3) return line.append(x);
    x.data.split("\n").forEach(function (text, i) {
      if (i) end();
      if (text) line.append(text);
    });
  });
  if (line.firstChild) found.push(line);
  return found;
}
function cut() {
  var block = null, replying = false, found = lines();
  stream.textContent = "";
  found.forEach(function (line) {
    var blank = line.textContent == "\n", note = !replying && line.querySelector("i");
    if (!block || !replying && !blank) {
      block = D.createElement("span");
      block.dataset.v = note || blank ? "" : "c r";
      stream.append(block);
    }
    line.className = replying || blank ? "r" : "c";
    if (line.querySelector(".e")) block.dataset.v += " e";
    if (line.querySelector(".f")) block.dataset.v += " f";
    block.append(line);
    replying = !blank && !note;
  });
}
D.addEventListener("filtering", function () {
  if (!stream.querySelector("[data-v]")) cut();
  stream.dataset.show = verdict;
});
[["f", "a.f"], ["e", ".e"]].forEach(function (kind) {
  var count = all(kind[1], stream).length, b = D.querySelector('[data-verdict="' + kind[0] + '"]');
  b.textContent = b.textContent.trim() + " " + count;
  b.hidden = !count;
});
// Replies are then told from commands; what the address names has moved, and is gone to again.
if (stream.textContent.length < 400000) {
  cut();
  if (stream.querySelector("[id='" + location.hash.slice(1).replace(/\W/g, "") + "']"))
    location.replace(location.href);
}
