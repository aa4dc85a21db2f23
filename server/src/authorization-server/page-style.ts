import { createHash } from 'node:crypto'

export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #f3f1ec; --card: #ffffff; --panel: #f7f5f1; --ink: #1b1d21; --muted: #595c63;
  --line: #dedad1; --edge: #767981; --accent: #1c4a7d; --accent-hover: #143a65; --on-accent: #ffffff;
  --problem: #9b1c1c; --problem-panel: #fdf1f0; --caution: #6b4a00; --caution-panel: #fdf5e2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121316; --card: #1c1e22; --panel: #25282d; --ink: #eceae5; --muted: #b1b3b9;
    --line: #383b42; --edge: #8b8e97; --accent: #9cc3f2; --accent-hover: #bcd7f7; --on-accent: #0e2138;
    --problem: #ffb4ab; --problem-panel: #3a1f1e; --caution: #f2cf86; --caution-panel: #362c17;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 2.5rem 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
.wordmark {
  margin: 0 auto 1.25rem; text-align: center;
  font: 600 1.375rem/1.2 "Iowan Old Style", Charter, Georgia, "Times New Roman", serif;
}
main {
  max-width: 28rem; margin: 0 auto; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-top: 4px solid var(--accent); border-radius: 0 0 0.5rem 0.5rem;
}
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance; }
h2, legend { margin: 0; padding: 0; font-size: 1rem; font-weight: 600; }
h2 { margin: 1.75rem 0 0.25rem; }
p { margin: 0 0 1rem; }
main > p:last-child { margin-bottom: 0; }
small { display: block; font-weight: 400; }
.muted, small { color: var(--muted); font-size: 0.875rem; }
strong, label { font-weight: 600; }
code { font: 0.875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
label { display: block; margin: 1.25rem 0 0.375rem; }
input[type=text], input[type=email], input[type=password] {
  display: block; width: 100%; min-height: 2.75rem; padding: 0.5rem 0.75rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--edge); border-radius: 0.375rem;
}
input[aria-invalid=true] { border: 2px solid var(--problem); }
button {
  min-height: 2.75rem; padding: 0.5rem 1.25rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: 0.375rem;
}
button:hover { background: var(--panel); }
button.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
button.primary:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
button.link {
  min-height: 1.75rem; padding: 0.125rem 0; font-size: 0.875rem; font-weight: 400; text-align: start;
  color: var(--accent); background: none; border: 0; text-decoration: underline; text-underline-offset: 0.2em;
}
button.link:hover { color: var(--accent-hover); text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.25rem; }
.wide { display: block; width: 100%; margin-top: 1.5rem; }
form + form .wide { margin-top: 0.75rem; }
.choice { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.75rem; }
.choice button { flex: 1 1 8rem; }
.after { margin: 1.25rem 0 0; }
.alert, .note { margin: 1rem 0 0; padding: 0.75rem 1rem; border-inline-start: 4px solid; border-radius: 0.25rem; }
.alert { color: var(--problem); background: var(--problem-panel); }
.note { color: var(--caution); background: var(--caution-panel); font-size: 0.875rem; }
.note ul { margin: 0.25rem 0; padding-inline-start: 1.25rem; }
dl { margin: 1.25rem 0 0; padding: 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 0.375rem; }
dt { color: var(--muted); font-size: 0.875rem; }
dd { margin: 0; }
dd + dt { margin-top: 0.75rem; }
dd.name { font-weight: 600; }
.scopes { margin: 0.5rem 0 0; padding: 0; list-style: none; }
.scopes li { position: relative; padding: 0.5rem 0 0.5rem 1.5rem; border-bottom: 1px solid var(--line); }
.scopes li:last-child { border-bottom: 0; }
.scopes li::before {
  content: ""; position: absolute; left: 0.375rem; top: 1rem; width: 0.5rem; height: 0.5rem;
  background: var(--accent); border-radius: 50%; forced-color-adjust: none;
}
fieldset { min-width: 0; margin: 1.5rem 0 0; padding: 0; border: 0; }
.tenant { margin-top: 0.5rem; border: 1px solid var(--edge); border-radius: 0.375rem; }
.tenant:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.tenant label {
  display: grid; grid-template-columns: 1.25rem 1fr; gap: 0 0.75rem; align-items: start;
  margin: 0; padding: 0.75rem 1rem; cursor: pointer;
}
.tenant .note { margin: -0.5rem 0 0; padding: 0 1rem 0.75rem 3rem; background: none; border: 0; }
input[type=radio] { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--accent); }
@media (max-width: 30rem) {
  body { padding: 1.25rem 0.75rem; }
  main { padding: 1.5rem 1.125rem; }
}
`

export const pageStyleHash = `sha256-${createHash('sha256').update(pageStyle).digest('base64')}`
