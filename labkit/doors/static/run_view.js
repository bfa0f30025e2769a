// Run view: the player in the page of a served lab.  It follows the lab until its reader looks back.
//
// 1. What came since the last look passes in a second; where motion is to be reduced the newest instant is shown at once.
// 2. Whoever moves the cursor, plays or asks why looks back: the run that is shown stays as it was read until "Now" is wanted.

import { startPlayer } from "/player/player.js";
import { $, make } from "/asking.js";

const GLIDE_MS = 1000;

function makeRunView(changed) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let player = null, shown = 0, glides = 0;

  function follows() {
    return player === null || ($("answer").hidden && !player.playing() && (player.at() === shown || player.at() >= player.end()));
  }

  function put(at) {
    player.show(at, false);
    shown = player.at();
  }

  function glide(from, to) {
    const began = performance.now(), mine = ++glides;
    const step = (time) => {
      if (mine !== glides || !follows()) return;
      const share = Math.min(1, (time - began) / GLIDE_MS);
      put(from + (to - from) * Math.max(0, share));
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // Show a run that was read; one that is `wanted` is shown as it is now, whatever was looked at.
  function load({ data, timeline, tables, legend }, wanted) {
    const from = player ? player.end() : data.end;
    glides += 1;
    const drawn = new DOMParser().parseFromString(timeline, "text/html").body.firstElementChild;
    $("time").replaceChildren(...drawn.children);
    $("time").style.cssText = drawn.style.cssText;
    $("legend").replaceChildren(...legend.flatMap((words) => [make("span", { textContent: words }), " "]));
    if (!$("tables").contains(document.activeElement)) $("tables").innerHTML = tables;
    if (player) { player.pause(); player.load(data); } else player = startPlayer(data);
    window.player = player;
    if (still.matches || wanted || from >= data.end) put(data.end);
    else { put(from); glide(from, data.end); }
  }

  ["pointerup", "keyup", "click"].forEach((name) => $("stage").addEventListener(name, () => setTimeout(changed, 0)));
  return { load, follows, at: () => player.at() };
}

export { makeRunView };
