// The operators' page. It reads the API with the visitor's token, and shows one view at a time.
import { listenToCreate, showChoices } from './create-server.js';
import { byId } from './elements.js';
import { followEvents } from './events.js';
import { canAdminister, showAllResources, showResources } from './resources.js';
import { serverDetail } from './server-detail.js';
import { showServers } from './servers.js';
import { startSignIn } from './sign-in.js';
import { startViews } from './views.js';

let session;

async function refresh() {
  const current = session;
  if (!current) return;
  try {
    const { isAdmin } = current;
    await Promise.all([showServers(isAdmin), showResources(views.view(), isAdmin)]);
  } catch (error) {
    if (current !== session) return;
    if (error.status === 401) signOut('The token has expired: sign in again.');
    else byId('counts').textContent = error.message;
  }
}

async function startSession() {
  try {
    await openSession();
  } catch (error) {
    byId('counts').textContent = error.message;
  }
}

async function openSession() {
  const isAdmin = await canAdminister();
  const following = new AbortController();
  session = { isAdmin, following };
  for (const part of document.querySelectorAll('[data-admin]')) part.hidden = !isAdmin;
  await Promise.all([refresh(), showChoices(), showAllResources(isAdmin)]);
  await views.go();
  void followEvents(following.signal, () => void refresh());
}

function endSession() {
  session?.following.abort();
  session = undefined;
  byId('counts').textContent = '';
  for (const body of document.querySelectorAll('tbody')) body.replaceChildren();
}

const views = startViews((view) => (view === 'servers' && session ? serverDetail : undefined), refresh);
listenToCreate(refresh);
const signOut = startSignIn({ onSignIn: startSession, onSignOut: endSession });
