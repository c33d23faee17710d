/** The page; its script fills the tables. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Test cloud</title>
<link rel="stylesheet" href="/_page/page.css">
<script src="/_page/page.js" defer></script>
</head>
<body>
<header>
<h1>Test cloud</h1>
<p><span id="counts" role="status">Loading</span> <span id="clock"></span></p>
<p><a href="/docs">Compute API</a></p>
<label><input type="checkbox" id="live" checked> Live</label>
</header>
<main>
<section aria-labelledby="servers-title">
<h2 id="servers-title">Servers</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table of servers"><table>
<thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col">Task</th><th scope="col">Flavor</th><th scope="col">Host</th><th scope="col">Addresses</th><th scope="col">Id</th></tr></thead>
<tbody id="servers"></tbody>
</table></div>
</section>
<section aria-labelledby="hosts-title">
<h2 id="hosts-title">Hosts</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table of hosts"><table>
<thead><tr><th scope="col">Host</th><th scope="col">Servers</th><th scope="col">CPUs</th><th scope="col">Memory</th></tr></thead>
<tbody id="hosts"></tbody>
</table></div>
</section>
<section aria-labelledby="requests-title">
<h2 id="requests-title">Requests</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table of requests"><table>
<thead><tr><th scope="col">Time</th><th scope="col">Method</th><th scope="col">Path</th><th scope="col">Status</th><th scope="col">Version</th><th scope="col">ms</th><th scope="col">Request id</th></tr></thead>
<tbody id="requests"></tbody>
</table></div>
</section>
<section aria-labelledby="unserved-title" id="unserved-section" hidden>
<h2 id="unserved-title">Asked for in vain</h2>
<ul id="unserved"></ul>
</section>
</main>
</body>
</html>
`;
