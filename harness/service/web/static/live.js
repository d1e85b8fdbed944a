// The public tests as they are judged: words of the worker, one line each; then the page anew.
(function () {
"use strict";
var list = document.getElementById("live");
if (!list || !window.EventSource) return;
var now = document.getElementById("now");
var source = new EventSource(list.dataset.events);
source.addEventListener("word", function (event) {
  var item = document.createElement("li");
  item.textContent = event.data;
  list.append(item);
  now.textContent = "";
});
source.addEventListener("now", function (event) { now.textContent = event.data; });
source.addEventListener("end", function () { source.close(); location.reload(); });
})();
