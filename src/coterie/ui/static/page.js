// Partial updates and progress. Every page works without this: forms are plain, and a job's page asks again by itself.
"use strict";
(() => {
  let dirty = false; // somebody is typing: the page must not be drawn anew under their hands
  let unsent = false; // settings were typed and not set: whoever leaves now would think that they hold
  let busy = false;
  let lost = 0;

  const main = () => document.getElementById("main");
  const working = () => document.querySelector('[data-job-state="running"]');
  const known = () => Number(document.body.dataset.state);

  function settle() {
    document.documentElement.classList.add("js");
    for (const button of document.querySelectorAll("button.copy, button.preset, input.all")) button.hidden = false;
    for (const word of document.querySelectorAll(".plain-k")) word.hidden = true;
    dirty = unsent = false;
  }

  function draw(text, url, same, ticks, here) {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!page.getElementById("main")) return location.assign(url);
    const focused = document.activeElement && document.activeElement.id;
    const picked = ticks ? [...document.querySelectorAll('input[name="pick"]:checked')].map((box) => box.id) : [];
    const waited = working();
    const result = () => document.querySelector("[data-result]");
    const failed = () => (document.querySelector(".job:not(.running)") || { dataset: {} }).dataset.job;
    const [before, bad] = [main().textContent, failed()];
    const opened = same ? [...document.querySelectorAll("details")].map((d) => d.open) : [];
    document.title = page.title;
    document.body.dataset.state = page.body.dataset.state;
    for (const id of ["top", "main"]) document.getElementById(id).replaceWith(page.getElementById(id));
    settle();
    if (same) {
      const all = [...document.querySelectorAll("details")];
      if (all.length === opened.length) all.forEach((d, i) => (d.open = d.open || opened[i]));
      for (const box of picked.map((id) => document.getElementById(id))) if (box) box.checked = true;
    }
    const problem = document.getElementById("problem");
    const back = focused && document.getElementById(focused);
    if (problem) problem.focus();
    else if (same && back) back.focus({ preventScroll: true });
    const over = (waited && !working()) || (here && main().textContent !== before);
    if (same && failed() && failed() !== bad) window.scrollTo(0, 0);
    else if (same && over && result()) {
      const top = result().getBoundingClientRect().top;
      if (top < 0 || top > innerHeight / 2) result().scrollIntoView();
    }
    if (!problem && !same) {
      window.scrollTo(0, 0);
      main().focus({ preventScroll: true });
    }
  }

  async function load(url, form) {
    if (busy) return;
    busy = true;
    document.documentElement.classList.add("busy");
    try {
      const asked = form ? { method: "POST", body: form } : {};
      const answer = await fetch(url, { ...asked, credentials: "same-origin" });
      const text = await answer.text();
      const to = answer.redirected || !form ? answer.url : location.href;
      const same = new URL(to).pathname === location.pathname;
      if (to !== location.href) history[same ? "replaceState" : "pushState"](null, "", to);
      draw(text, to, same, same && (!form || form.has("set")), form && url === location.pathname);
    } catch {
      gone();
    } finally {
      busy = false;
      document.documentElement.classList.remove("busy");
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

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const by = event.submitter;
    const action = (by && by.getAttribute("formaction")) || form.getAttribute("action");
    event.preventDefault();
    if (form.method === "get") {
      load(action + "?" + new URLSearchParams(new FormData(form, by)));
      return;
    }
    load(action, new URLSearchParams(new FormData(form, by)));
  });

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
    if (event.target.closest("#promise, .fields, textarea.code")) unsent = true;
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
      dirty = unsent = true;
      return;
    }
    const point = event.target.closest("svg.map a");
    if (point && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const number = point.getAttribute("href").split("/").pop();
      load("/candidates/choose", new URLSearchParams({ number }));
    }
  });

  window.addEventListener("beforeunload", (event) => {
    if (unsent) event.preventDefault();
  });

  window.addEventListener("popstate", () => load(location.href));

  function words(job) {
    if (job.left === null) return job.seconds > 2 ? `${job.seconds} s so far` : "";
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
    if (now.state === known() || busy) return;
    if (dirty) note("Something has changed, here or in another tab.", "Show it", () => load(location.href));
    else load(location.href);
  }

  settle();
  const events = new EventSource("/events");
  let last = null;
  events.addEventListener("message", (event) => {
    last = event;
    told(event);
  });
  events.addEventListener("error", () => {
    lost += 1;
    if (lost === 3) gone();
  });
  // what was told while a request was under way
  setInterval(() => {
    if (last && !busy && JSON.parse(last.data).state > known() && !dirty) told(last);
  }, 500);
})();
