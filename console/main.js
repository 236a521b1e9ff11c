import { forgetCredentials, keptCredentials, openSession } from './api/session.js';
import { fill, h } from './ui/dom.js';
import { applyTheme } from './ui/theme.js';
import { loginView } from './views/login.js';
import { Shell } from './views/shell.js';

const app = document.getElementById('app');
let shown;

const unaccepted =
  'The server no longer accepts your credentials: they have expired or were revoked, or it was started with other keys.';
const none = { owner: undefined, texts: new Map() };
/** Texts of editors that are not saved, and the user who wrote them. They are shown to nobody else. */
let drafts = none;
const ownerOf = ({ cluster, user }) => JSON.stringify([cluster, user.name, user.groups]);

function show(view) {
  shown?.stop();
  shown = view;
  fill(app, view.element);
}

function showLogin(message) {
  show(loginView(showShell, { message }));
}

function showShell(session) {
  const owner = ownerOf(session);
  if (drafts.owner !== owner) drafts = { owner, texts: new Map() };
  session.drafts = drafts.texts;
  const left = () => {
    forgetCredentials();
    location.hash = '';
    drafts = none;
    showLogin();
  };
  const shell = new Shell(session, left);
  show(shell);
  session.connection.addEventListener('unauthorized', () => shown === shell && expired());
}

/** Leads to the login. The address and the unsaved texts stay, for the same user. */
function expired() {
  forgetCredentials();
  const kept = drafts.texts.size === 0 ? '' : ' Your unsaved text is kept: log in as the same user to continue.';
  showLogin(`${unaccepted}${kept}`);
}

applyTheme();
const kept = keptCredentials();
if (kept === undefined) showLogin();
else {
  fill(app, h('p', { class: 'loading' }, 'Opening the session…'));
  openSession(kept).then(showShell, (error) => {
    if (error.status === 401) expired();
    else showLogin(error.message);
  });
}
// Leaving the page would lose the texts: the browser asks first.
addEventListener('beforeunload', (event) => {
  if (drafts.texts.size > 0) event.preventDefault();
});
