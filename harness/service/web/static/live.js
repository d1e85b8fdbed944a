// The public tests as they are judged: words of the worker, one line each; then the page anew.
(function () {
"use strict";
var FIRST = 5, MOST = 60;  // seconds between two tries
var list = document.getElementById("live");
if (!list || !window.EventSource) return;
var now = document.getElementById("now"), trouble = document.getElementById("interrupted");
var pause = FIRST;

// A new connection tells all from the beginning, and what stands in a line already stays there. The
// browser itself goes on after the last word when it connects again.
function watch() {
  var source = new EventSource(list.dataset.events), place = 0;
  source.addEventListener("open", function () { pause = FIRST; trouble.textContent = ""; });
  source.addEventListener("word", function (event) { put(place, event.data); place += 1; });
  source.addEventListener("anew", function () {
    if (place) list.textContent = now.textContent = "";
    place = 0;
  });
  source.addEventListener("now", function (event) { now.textContent = event.data; });
  source.addEventListener("place", function (event) {
    document.getElementById("place").textContent = event.data;
  });
  source.addEventListener("end", function () { source.close(); location.reload(); });
  source.addEventListener("error", function () {
    if (source.readyState === EventSource.CLOSED) tryLater();
    else trouble.textContent = "Live results are interrupted. This page tries again.";
  });
}

function put(place, text) {
  var item = list.children[place] || list.appendChild(document.createElement("li"));
  if (item.textContent !== text) item.textContent = text;
  now.textContent = "";
}

// After an answer such as 429 or 502 a browser does not connect again.
function tryLater() {
  trouble.textContent = "Live results are interrupted. You may have too many of these pages open, or" +
    " the service may be restarting. This page tries again in " + pause + " s. If this lasts, reload it.";
  setTimeout(watch, pause * 1000);
  pause = Math.min(2 * pause, MOST);
}

watch();
})();
