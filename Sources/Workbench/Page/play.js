"use strict";
// Nothing is decided here: each pause in typing is a question to the program, and its answer is shown.
{
  const field = id => document.getElementById(id);
  const [policy, scenario, plan, result, busy, take, examples] =
    ["policy", "scenario", "plan", "result", "busy", "take", "examples"].map(field);
  // A pause in typing, in ms: shorter would ask at each letter, longer would be a wait.
  const PAUSE = 300;
  let timer = 0, number = 0, waiting = null;
  let file = examples?.selectedOptions[0]?.dataset.file ?? "typed.toml";
  // The policy as an example has it, which a scenario with a policy of its own may replace.
  let untouched = policy.value;

  const post = (what, body, signal) => fetch(what, {
    method: "POST", body: JSON.stringify(body), signal, headers: { "Content-Type": "application/json" },
  });

  const ask = async () => {
    const mine = ++number;
    waiting?.abort();
    waiting = new AbortController();
    if (!scenario.value.trim() && !policy.value.trim()) return;
    result.classList.add("busy");
    try {
      const answer = await post("ask", {
        file, policy: policy.value, scenario: scenario.value, plan: plan.value.split(";").map(line => line.trim()).join("\n"),
      }, waiting.signal);
      const text = await answer.text();
      if (mine !== number) return;
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      result.innerHTML = text;
      for (const line of result.querySelectorAll(".why")) line.textContent = line.dataset.hint;
      busy.textContent = "";
      take.disabled = !field("outcome");
    } catch (error) {
      if (error.name === "AbortError" || mine !== number) return;
      busy.textContent = `The program does not answer (${error.message}). Is camclient policy play still running?`;
    }
    result.classList.remove("busy");
  };

  const pause = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  };
  for (const input of [policy, scenario, plan]) {
    input.addEventListener("input", pause);
    input.addEventListener("keydown", event => {
      if (event.key === "Enter" && event.ctrlKey) { clearTimeout(timer); ask(); }
    });
  }
  field("play").addEventListener("submit", event => event.preventDefault());

  const begin = (list, target, note) => field(list)?.addEventListener("change", async event => {
    const name = event.target.value;
    if (!name) return;
    const answer = await post("file", { name });
    if (!answer.ok) { busy.textContent = `${name} cannot be read.`; return; }
    target.value = await answer.text();
    note(name);
    ask();
  });
  begin("policies", policy, name => { file = name; });
  // A scenario has its own policy, for which the example makes room.
  begin("scenarios", scenario, () => { if (policy.value === untouched) policy.value = ""; });
  examples?.addEventListener("change", async () => {
    const answer = await post("example", { number: Number(examples.value) });
    if (!answer.ok) { busy.textContent = "The example cannot be read."; return; }
    const example = await answer.json();
    [file, untouched, policy.value, scenario.value, plan.value] =
      [example.file, example.policy, example.policy, example.scenario, ""];
    ask();
  });

  // What the fields have to begin with is a question, too.
  ask();

  take.addEventListener("click", () => {
    scenario.value = field("outcome")?.textContent.replace(/\n+$/, "\n") ?? scenario.value;
    ask();
    scenario.focus();
  });
}
