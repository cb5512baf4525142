// Partial updates and progress. Every page works without this: forms are plain, and a job's page asks again by itself.
"use strict";
(() => {
  let dirty = false; // somebody is typing: the page must not be drawn anew under their hands
  let under = null; // the request that is under way
  let then = null; // what is asked for once a form that is under way is answered
  let wanted = null; // the part of the page that somebody has asked for and that is not there yet
  let shown = address(location.href);
  let lost = 0;

  const main = () => document.getElementById("main");
  const known = () => Number(document.body.dataset.state);
  const stopped = () => document.querySelector("[data-stopped]");
  const running = () => document.querySelector('[data-job-state="running"]');

  function address(url) {
    return url.split("#")[0];
  }

  function settle() {
    document.documentElement.classList.add("js");
    for (const button of document.querySelectorAll("button.copy, button.preset, input.all")) button.hidden = false;
    for (const word of document.querySelectorAll(".plain-k")) word.hidden = true;
    dirty = false;
  }

  // what tells an element apart from all others, also after the page was drawn anew
  function mark(one) {
    if (one.id) return "#" + one.id;
    const form = one.form && one.form.getAttribute("action");
    return [one.tagName, one.name, one.value, one.getAttribute("href"), form].join("|");
  }

  function alike(one) {
    return [...document.querySelectorAll(one.tagName)].filter((other) => mark(other) === one.mark);
  }

  function place() {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const found = { tagName: one.tagName, mark: mark(one), within: [], button: one.type === "submit" };
    found.number = alike(found).indexOf(one);
    for (let up = one.parentElement; up; up = up.parentElement) if (up.id) found.within.push(up.id);
    return found;
  }

  // focus goes where it was; if that is gone, to what comes next, or to what was around it
  function back(was) {
    const same = alike(was)[was.number];
    if (same && !same.disabled) return same.focus({ preventScroll: true });
    const next = was.button && main().querySelector("a.button.main");
    if (next) return next.focus();
    const around = document.getElementById(was.within.find((id) => id !== "top" && document.getElementById(id)) || "main");
    if (!around.hasAttribute("tabindex")) around.tabIndex = -1;
    around.focus({ preventScroll: true });
  }

  // what was typed into a form that was not sent
  function typed(sent) {
    const all = [];
    for (const form of main().querySelectorAll("form[id]")) {
      if (form === sent) continue;
      for (const one of form.querySelectorAll("input, select, textarea")) {
        const first = one.options && Math.max(0, [...one.options].findIndex((option) => option.defaultSelected));
        const other = one.options ? one.selectedIndex !== first : one.value !== one.defaultValue;
        if (other || one.checked !== one.defaultChecked) all.push([form.id, one.name, one.type, one.value, one.checked]);
      }
    }
    return all;
  }

  function retype(all) {
    for (const [id, name, type, value, checked] of all) {
      const form = document.getElementById(id);
      for (const one of form ? form.elements : []) {
        if (one.name !== name) continue;
        if (type !== "radio" && type !== "checkbox") one.value = value;
        else if (one.value === value) one.checked = checked;
        else continue;
        dirty = true;
      }
    }
  }

  function draw(text, url, sent, by) {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!page.getElementById("main")) return location.assign(url);
    const same = new URL(url).pathname === new URL(shown).pathname;
    const was = place();
    const opened = same ? [...document.querySelectorAll("details")].map((d) => d.open) : [];
    const ticks = same && by && by.name === "set" ? [...main().querySelectorAll("[name=pick]:checked")].map((b) => b.id) : [];
    const kept = same && sent && main().contains(sent) ? typed(sent) : [];
    document.title = page.title;
    document.body.dataset.state = page.body.dataset.state;
    for (const id of ["top", "main", "foot"]) document.getElementById(id).replaceWith(page.getElementById(id));
    shown = address(url);
    settle();
    if (stopped()) pause();
    retype(kept);
    for (const id of ticks) document.getElementById(id).checked = true;
    if (same) {
      const all = [...document.querySelectorAll("details")];
      if (all.length === opened.length) all.forEach((d, i) => (d.open = d.open || opened[i]));
    } else window.scrollTo(0, 0);
    tell();
    const problem = document.getElementById("problem");
    const result = wanted && !running() && document.getElementById(wanted);
    if (!running()) wanted = null;
    if (problem && (sent || !same)) problem.focus();
    else if (result) {
      result.tabIndex = -1;
      result.scrollIntoView();
      result.focus({ preventScroll: true });
    } else if (!same) main().focus({ preventScroll: true });
    else if (was) back(was);
  }

  // what has changed, for those who don't see it
  function tell() {
    const job = document.querySelector("[data-job]");
    const notes = [...main().querySelectorAll(".note[role=status], .count[role=status]")];
    const words = [...(job ? [job.querySelector("p")] : []), ...notes].map((one) => one.textContent.trim());
    const place = document.getElementById("told");
    if (place.textContent !== words.join(" ")) place.textContent = words.join(" ");
  }

  async function load(url, how = {}) {
    const { sent = null, by = null, body = null, weak = false } = how;
    if (under) {
      if (weak) return; // what was told is looked at again
      if (under.sent) {
        if (!sent || by !== under.by) then = [url, how]; // who presses twice means it once
        return;
      }
      under.stop.abort();
    }
    const mine = (under = { sent, by, stop: new AbortController() });
    document.documentElement.classList.add("busy");
    try {
      const asked = { credentials: "same-origin", signal: mine.stop.signal };
      const answer = await fetch(url, body ? { ...asked, method: "POST", body } : asked);
      const text = await answer.text();
      if (under !== mine) return;
      if (weak && dirty) return changed();
      const to = answer.redirected || !body ? answer.url : address(location.href);
      if (to !== address(location.href)) {
        const same = new URL(to).pathname === location.pathname;
        history[same ? "replaceState" : "pushState"](null, "", to);
      }
      draw(text, to, sent, by);
    } catch {
      if (under === mine) gone();
    } finally {
      if (under === mine) {
        under = null;
        document.documentElement.classList.remove("busy");
        const next = then;
        then = null;
        if (next) load(...next);
      }
    }
  }

  function note(words, label, run) {
    let place = document.getElementById("changed");
    if (!place) {
      place = document.createElement("p");
      place.id = "changed";
      place.className = "note";
      place.setAttribute("role", "status");
      main().prepend(place);
    }
    place.textContent = words + " ";
    if (label) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "small";
      button.textContent = label;
      button.addEventListener("click", run);
      place.append(button);
    }
  }

  function gone() {
    note("Coterie does not answer. Has it been stopped? In the terminal, coterie ui starts it again.");
  }

  function changed() {
    note("Something has changed, here or in another tab.", "Show it", () => load(location.href));
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const by = event.submitter;
    const action = (by && by.getAttribute("formaction")) || form.getAttribute("action");
    event.preventDefault();
    wanted = (by && by.dataset.then) || form.dataset.then || null;
    const fields = new URLSearchParams(new FormData(form, by));
    const posted = form.getAttribute("method") === "post"; // a field may be called method, and hide the form's own
    if (posted) load(action, { sent: form, by, body: fields });
    else load(action + "?" + fields, { sent: form, by });
  });

  // who goes on elsewhere is not called back when what they asked for is there
  for (const sign of ["keydown", "pointerdown", "wheel"]) {
    document.addEventListener(sign, () => under || (wanted = null), { passive: true });
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches("input.all")) {
      for (const box of document.querySelectorAll('input[name="pick"]')) box.checked = event.target.checked;
      return;
    }
    const number = event.target.dataset && event.target.dataset.set;
    if (number === undefined) return;
    const form = event.target.form;
    form.requestSubmit(form.querySelector(`button[name="set"][value="${number}"]`));
  });

  document.addEventListener("input", (event) => {
    if (!(event.target.dataset && "set" in event.target.dataset)) dirty = true;
  });

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("button.copy");
    if (copy) {
      const from = document.getElementById(copy.dataset.copy);
      const text = from.value === undefined ? from.textContent : from.value;
      navigator.clipboard.writeText(text).then(() => {
        copy.textContent = "Copied";
        setTimeout(() => (copy.textContent = "Copy"), 1500);
      });
      return;
    }
    const preset = event.target.closest("button.preset");
    if (preset) {
      const k = document.getElementById("k");
      k.value = preset.dataset.k;
      k.focus();
      dirty = true;
      return;
    }
    const point = event.target.closest("svg.map a");
    if (point && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      // a dot does what the button in the candidate's row does; that of the one that is taken leads to its page
      const number = point.getAttribute("href").split("/").pop();
      const button = document.querySelector(`form[action="/candidates/choose"] button[value="${number}"]`);
      if (!button) return;
      event.preventDefault();
      button.form.requestSubmit(button);
    }
  });

  window.addEventListener("popstate", () => {
    if (address(location.href) !== shown || then) load(location.href); // else to another part of this page
  });

  function words(job) {
    const unknown = job.left === null || job.percent === 100; // of a stage whose end is not counted
    if (unknown) return job.seconds > 2 ? `${job.seconds} s so far` : "";
    if (job.left < 90) return `about ${Math.max(1, job.left)} s left in this stage`;
    return `about ${Math.round(job.left / 60)} minutes left in this stage`;
  }

  function progress(job) {
    const shown = document.querySelector(`[data-job="${job.number}"]`);
    if (!shown || shown.dataset.jobState !== "running") return;
    shown.querySelector(".stage").textContent = job.stage || "starting";
    shown.querySelector(".left").textContent = words(job);
    const bar = shown.querySelector("progress");
    if (job.percent === null) bar.removeAttribute("value");
    else bar.value = job.percent;
  }

  function told(event) {
    lost = 0;
    const now = JSON.parse(event.data);
    if (now.job && now.job.state === "running") progress(now.job);
    if (now.state === known() || under) return;
    if (dirty) changed();
    else load(location.href, { weak: true });
  }

  // A browser has few connections to one server: a tab that nobody sees must not hold one.
  let events = null;
  let last = null;

  function listen() {
    if (events || document.hidden || stopped()) return;
    events = new EventSource("/events");
    events.addEventListener("message", (event) => {
      last = event;
      told(event);
    });
    events.addEventListener("error", () => {
      lost += 1;
      if (lost === 3 || (events && events.readyState === EventSource.CLOSED)) gone();
    });
  }

  function pause() {
    if (events) events.close();
    events = last = null;
  }

  // A choice that was made before this script was there, or that the browser brings back, is not set: show what is.
  for (const choice of document.querySelectorAll("select[data-set]")) {
    const first = [...choice.options].findIndex((option) => option.defaultSelected);
    choice.selectedIndex = Math.max(0, first);
  }
  settle();
  listen();
  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : listen()));
  // what was told while a request was under way
  setInterval(() => {
    if (last && !under && !dirty && JSON.parse(last.data).state > known()) told(last);
  }, 500);
})();
