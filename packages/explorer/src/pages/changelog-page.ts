import { html } from '@apistrata/ui';
import { changeGroups, comparisonForm } from './changes-page.js';
import { layout } from './layout.js';
import { linkTo, type Site } from './site.js';

/**
 * Renders the changes in all versions, newest first. A script selects the changes between two versions; without
 * JavaScript, the page is the API's changelog.
 */
export function changelogPage(site: Site): { readonly text: string } {
  const { api } = site;
  const { all, min, max } = api.versions;
  const versionSections = all
    .slice(1)
    .reverse()
    .map((version) => {
      const at = { ...site, version };
      const changes = api.changesAt(version);
      return (
        changes.length > 0 &&
        html`<section class="section" data-step="${version.text}"><h2><a href="${linkTo(at, `/versions/${version.text}`)}">${version.text}</a></h2>${changeGroups(at, changes, false)}</section>\n`
      );
    });
  const filter = { text: '', kind: undefined, breakingOnly: false };
  const content = html`<h1>Changes in all versions</h1>
<p class="lead">What changes from version to version, newest first.</p>
<div data-compare hidden>${comparisonForm(site, min, max, filter)}<p role="status" data-count></p></div>
${versionSections}`;
  return layout(site, { title: 'Changes', path: '/changes', scripts: ['static.js'], content });
}
