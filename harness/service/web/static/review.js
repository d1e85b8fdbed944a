// Keys that lead to the student before and after, as the links of the page do. They are not heard
// while somebody types, and can be turned off.
(function () {
"use strict";
var KEYS = {n: "next", j: "next", p: "prev", k: "prev"}, OFF = "gtp-harness-no-keys";
var button = document.getElementById("keys");

function areOff() {
  try { return localStorage.getItem(OFF) !== null; } catch (e) { return false; }
}
function show() {
  button.setAttribute("aria-pressed", String(!areOff()));
  button.hidden = false;
}
document.addEventListener("keydown", function (event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.isComposing || areOff()) return;
  if (event.target.closest("input,textarea,select,[contenteditable]")) return;
  var link = KEYS[event.key] && document.querySelector("a[rel=" + KEYS[event.key] + "]");
  if (!link) return;
  event.preventDefault();
  link.click();
});
if (!button) return;
button.addEventListener("click", function () {
  try {
    if (areOff()) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "yes");
  } catch (e) { /* where nothing can be kept, keys stay on */ }
  show();
});
show();
})();
