import { forgetCredentials, keptCredentials, openSession } from './api/session.js';
import { fill, h } from './ui/dom.js';
import { applyTheme } from './ui/theme.js';
import { loginView } from './views/login.js';
import { Shell } from './views/shell.js';

const app = document.getElementById('app');
let shown;

function show(view) {
  shown?.stop();
  shown = view;
  fill(app, view.element);
}

function showLogin(message) {
  show(loginView(showShell, { message }));
}

function showShell(session) {
  const leave = (message) => {
    forgetCredentials();
    location.hash = '';
    showLogin(message);
  };
  show(new Shell(session, leave));
  session.connection.addEventListener('unauthorized', () => leave('The server no longer accepts your credentials.'), {
    once: true,
  });
}

applyTheme();
const kept = keptCredentials();
if (kept === undefined) showLogin();
else {
  fill(app, h('p', { class: 'loading' }, 'Opening the session…'));
  openSession(kept).then(showShell, (error) => {
    forgetCredentials();
    showLogin(error.status === 401 ? 'The server no longer accepts your credentials.' : error.message);
  });
}
