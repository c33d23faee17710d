import { type HeaderLink, type Html, html } from '@apistrata/ui';
import { cloudPage, type PageView, table } from './cloud-page.js';
import { resourceViews } from './resource-views.js';

/** The method by which visitors of the page authenticate. */
export type SignIn =
  /** The server does not authenticate callers. By default, the page acts as an administrator. */
  | { readonly kind: 'noauth' }
  /** Visitors paste a token. */
  | { readonly kind: 'token' }
  /**
   * Visitors log in with a user name, a password and a project; `identity` is the path of the identity API on the same
   * server.
   */
  | { readonly kind: 'password'; readonly identity: string };

/** Options for {@link operatorsPage}. */
export interface OperatorsPageOptions {
  /** The path or URL of the page's files; see `pageFile()`. */
  readonly assets: string;
  /** The highest microversion of the server, such as `2.96`. */
  readonly maxVersion: string;
  readonly signIn: SignIn;
  /** Whether the machines have consoles that browsers can open. */
  readonly consoles: boolean;
  /** The links in the header. */
  readonly links: readonly HeaderLink[];
  /** The content of the "About" view, which is visible without JavaScript and without signing in. */
  readonly about: Html;
}

const FIELDS: Readonly<Record<SignIn['kind'], Html>> = {
  noauth: html`<label>User <input name="user" value="admin" required></label>
<label>Project <input name="project" value="demo" required></label>`,
  token: html`<label>Token <input name="token" type="password" autocomplete="off" required></label>`,
  password: html`<label>User <input name="user" value="admin" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<label>Project <input name="project" value="admin" required></label>`,
};

const accountControls = html`<p id="account" hidden><span id="account-name"></span> <button type="button" id="sign-out" class="button-quiet">Sign out</button></p>`;

function signInForm({ kind }: SignIn): Html {
  return html`<form id="sign-in" aria-labelledby="sign-in-title" hidden>
<h2 id="sign-in-title">Sign in</h2>
${FIELDS[kind]}
<p><button type="submit" class="button-main">Sign in</button></p>
<p class="soft">The token is kept only in the memory of this page.</p>
<p id="sign-in-problem" class="bad" role="alert"></p>
</form>`;
}

/**
 * Renders the operators' page: resources, consoles, logs and events of a cloud, and a form that creates servers. It
 * uses the compute API at `/v2.1` and the events at `/events`, with the permissions of the visitor. Send it with the
 * header that `pagePolicy()` returns.
 *
 * @example
 * ```ts
 * import { operatorsPage, pageFile, pagePolicy } from '@apistrata/test-cloud/page';
 * import { html } from '@apistrata/ui';
 * import express from 'express';
 *
 * const page = operatorsPage({
 *   assets: '/_assets',
 *   maxVersion: '2.96',
 *   signIn: { kind: 'password', identity: '/identity/v3' },
 *   consoles: false,
 *   links: [{ href: '/docs', text: 'API reference' }],
 *   about: html`<p>The cloud of the workshop.</p>`,
 * });
 * const app = express();
 * app.get('/', (_req, res) => void res.set('Content-Security-Policy', pagePolicy()).type('html').send(page));
 * app.get('/_assets/:name', async (req, res) => {
 *   const file = await pageFile(req.params.name);
 *   if (file) res.type(file.type).send(file.text);
 *   else res.sendStatus(404);
 * });
 * ```
 */
export function operatorsPage(options: OperatorsPageOptions): string {
  const { assets, maxVersion, signIn, consoles, links, about } = options;
  const views: readonly PageView[] = [
    ...resourceViews,
    {
      name: 'events',
      text: 'Events',
      admin: true,
      content: html`<p id="events-note" class="soft" role="status"></p>${table('events', 'events', ['Time', 'Event', 'Server', 'Host'])}`,
    },
    { name: 'about', text: 'About', content: about, initial: true },
  ];
  return cloudPage({
    title: 'Compute API',
    home: { href: '/', text: 'Compute API' },
    links,
    assets,
    script: 'operators',
    data: {
      compute: '/v2.1',
      events: '/events',
      version: maxVersion,
      'sign-in': signIn.kind,
      identity: signIn.kind === 'password' ? signIn.identity : '',
      consoles: consoles ? 'yes' : '',
    },
    controls: accountControls,
    first: signInForm(signIn),
    views,
  });
}
