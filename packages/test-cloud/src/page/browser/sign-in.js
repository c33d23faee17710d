import { compute, useToken } from './compute.js';
import { byId } from './elements.js';

const { signIn: kind, identity } = document.documentElement.dataset;

/** Requests a token from the identity service. */
async function tokenByPassword({ user, password, project }) {
  const domain = { name: 'Default' };
  const response = await fetch(`${identity}/auth/tokens`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      auth: {
        identity: { methods: ['password'], password: { user: { name: user, domain, password } } },
        scope: { project: { name: project, domain } },
      },
    }),
  });
  if (response.status === 401) throw new Error('The user, the password or the project is wrong.');
  const token = response.headers.get('X-Subject-Token');
  if (!response.ok || token === null) throw new Error(`The identity service responded with ${response.status}.`);
  return token;
}

/** Functions that exchange the fields for a token, by authentication method. */
const TOKENS = {
  noauth: ({ user, project }) => `${user}:${project}`,
  token: ({ token }) => token,
  password: tokenByPassword,
};

/**
 * Asks the visitor to sign in; without authentication, the initial values are used immediately.
 *
 * @param {{ onSignIn: () => Promise<void>, onSignOut: () => void }} listeners
 * @returns a function that signs out and shows the reason
 */
export function startSignIn({ onSignIn, onSignOut }) {
  const form = byId('sign-in');
  const problem = byId('sign-in-problem');

  function show(signedIn) {
    form.hidden = signedIn;
    byId('content').classList.toggle('signed-out', !signedIn);
    byId('account').hidden = !signedIn;
  }
  async function signIn() {
    problem.textContent = '';
    const fields = Object.fromEntries(new FormData(form));
    try {
      useToken(await TOKENS[kind](fields));
      await compute('GET', '/servers?limit=1');
    } catch (error) {
      problem.textContent = error.status === 401 ? 'The server does not accept this token.' : error.message;
      return;
    }
    form.reset();
    byId('account-name').textContent = fields.user ? `${fields.user} in ${fields.project}` : 'Signed in';
    show(true);
    await onSignIn();
  }
  function signOut(reason = '') {
    useToken('');
    show(false);
    onSignOut();
    problem.textContent = reason;
    form.querySelector('input').focus();
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void signIn();
  });
  byId('sign-out').addEventListener('click', () => signOut());
  show(false);
  if (kind === 'noauth') void signIn();
  return signOut;
}
