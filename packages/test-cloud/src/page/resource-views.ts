import { html } from '@apistrata/ui';
import { type PageView, table } from './cloud-page.js';

const createServerForm = html`<form id="create" class="with-control" aria-labelledby="create-title">
<h3 id="create-title">Create a server</h3>
<div class="fields">
<label>Name <input name="name" required maxlength="255" autocomplete="off" spellcheck="false"></label>
<label>Image <select name="image" required></select></label>
<label>Flavor <select name="flavor" required></select></label>
<button type="submit" class="button-main" id="create-button" disabled>Create</button>
</div>
<details><summary>More</summary>
<div class="fields">
<label>Network <select name="network"></select></label>
<label>Key pair <select name="key"></select></label>
</div>
<label class="block">User data <textarea name="script" rows="4" spellcheck="false" placeholder="#cloud-config"></textarea></label>
</details>
<p id="create-note" class="soft"></p>
<p id="create-problem" class="bad" role="alert"></p>
</form>`;

/** The views of resources, which the operators' page and the test cloud's page share. */
export const resourceViews: readonly PageView[] = [
  {
    name: 'servers',
    text: 'Servers',
    content: html`${createServerForm}${table('servers', 'servers', ['Name', 'State', 'Task', 'Flavor', 'Host', 'Addresses', 'Id'])}`,
  },
  {
    name: 'images',
    text: 'Images',
    content: table('images', 'images', ['Name', 'State', 'Size', 'Minimum disk', 'Changed', 'Id']),
  },
  {
    name: 'volumes',
    text: 'Volumes',
    content: table('volumes', 'volumes', ['Name', 'State', 'Size', 'Type', 'Server', 'Id']),
  },
  {
    name: 'networks',
    text: 'Networks',
    content: table('networks', 'networks', ['Name', 'MTU', 'Project', 'Id']),
  },
  {
    name: 'hosts',
    text: 'Hosts',
    admin: true,
    content: table('hosts', 'hosts', ['Host', 'State', 'Servers', 'CPUs', 'Memory', 'Disk']),
  },
  {
    name: 'usage',
    text: 'Usage',
    content: html`<h3>Limits of the project</h3>${table('limits', 'limits', ['Resource', 'In use'])}
<div data-admin><h3>Projects in the last 30 days</h3>${table('usage', 'usage', ['Project', 'Server hours', 'CPU hours', 'GiB hours'])}</div>`,
  },
];
