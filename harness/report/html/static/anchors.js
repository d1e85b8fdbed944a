/* Open the card that an address names. */
function open() {
  var there = location.hash.length > 1 && D.getElementById(location.hash.slice(1));
  var card = there && there.closest("details");
  if (!card) return;
  card.open = true;
  there.scrollIntoView();
  // what comes into sight above it is laid out only then, and moves it
  requestAnimationFrame(function () {
    requestAnimationFrame(function () { there.scrollIntoView(); });
  });
}
addEventListener("hashchange", open);
open();
