// A second click of a double click does not send a form once more. Later it may be sent again: a
// form that gives a file leaves the page as it is.
(function () {
"use strict";
var PAUSE = 3000;  // milliseconds
document.addEventListener("submit", function (event) {
  var form = event.target, now = Date.now();
  if (event.defaultPrevented) return;  // another script sends it
  if (form.sent && now - form.sent < PAUSE) event.preventDefault();
  else form.sent = now;
});
})();
