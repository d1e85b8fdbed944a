// A second click of a double click does not send a form once more. Later it may be sent again: a
// form that gives a file leaves the page as it is. A button whose answer takes long says so.
(function () {
"use strict";
var PAUSE = 3000, LONG = 500;  // milliseconds
document.addEventListener("submit", function (event) {
  var form = event.target, button = event.submitter, now = Date.now();
  if (event.defaultPrevented) return;  // another script sends it
  if (form.sent && now - form.sent < PAUSE) { event.preventDefault(); return; }
  form.sent = now;
  if (!button) return;
  setTimeout(function () { button.setAttribute("aria-busy", "true"); }, LONG);
  setTimeout(function () {
    if (!form.querySelector("[type=file]")) button.removeAttribute("aria-busy");
  }, PAUSE);
});
window.addEventListener("pageshow", function () {  // the way back shows the page as it was left
  document.querySelectorAll("[aria-busy]").forEach(function (one) {
    one.removeAttribute("aria-busy");
  });
});
})();
