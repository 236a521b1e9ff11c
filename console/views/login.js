import { keepCredentials, openSession } from '../api/session.js';
import { credentialsOf } from '../model/kubeconfig.js';
import { announce, field, fill, h } from '../ui/dom.js';

const anonymous = 'system:anonymous';

/** Asks for credentials; calls opened(session) when the server has accepted them. */
export function loginView(opened, { message } = {}) {
  const token = h('textarea', {
    id: 'token',
    class: 'mono token-input',
    rows: '5',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: 'eyJhbGciOi… or a whole kubeconfig',
    required: true,
  });
  const cluster = h('input', {
    id: 'cluster',
    class: 'mono',
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: 'none: the server itself',
  });
  const keep = h('input', { type: 'checkbox', id: 'keep' });
  const problem = h('p', { class: 'problem', role: 'alert' }, message);
  const submit = h('button', { type: 'submit', class: 'button primary wide' }, 'Log in');
  const certificate = h('div', { class: 'certificate' });

  const open = async (accessToken, mayKeep) => {
    const credentials = { token: accessToken, cluster: cluster.value.trim() };
    problem.textContent = '';
    submit.disabled = true;
    try {
      const session = await openSession(credentials);
      if (mayKeep && accessToken !== '') keepCredentials(credentials);
      token.value = '';
      announce(`Logged in as ${session.user.name}`);
      opened(session);
    } catch (error) {
      const scope = credentials.cluster === '' ? '' : ' A logical cluster accepts only the tokens that it has issued.';
      fill(problem, error.status === 401 ? `The server does not accept this token.${scope}` : error.message);
      token.focus();
    } finally {
      submit.disabled = false;
    }
  };
  const submitted = (event) => {
    event.preventDefault();
    const found = credentialsOf(token.value);
    if (found.problem) problem.textContent = found.problem;
    else void open(found.token, keep.checked);
  };
  token.addEventListener('input', () => {
    cluster.value = credentialsOf(token.value).cluster ?? cluster.value;
  });
  token.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submitted(event);
  });

  // A browser with a client certificate is a user already.
  openSession({ token: '' })
    .then((session) => {
      if (session.user.name === anonymous || !certificate.isConnected) return;
      fill(
        certificate,
        h('p', { class: 'divider' }, h('span', {}, 'or')),
        h(
          'button',
          { type: 'button', class: 'button wide', id: 'use-certificate', onclick: () => void open('', false) },
          `Continue as ${session.user.name}`,
        ),
        h('p', { class: 'hint' }, 'by the client certificate of this browser'),
      );
    })
    .catch(() => undefined);

  const element = h(
    'main',
    { class: 'login', id: 'main' },
    h(
      'form',
      { class: 'login-card', onsubmit: submitted, novalidate: true },
      h('div', { class: 'brand large' }, h('img', { src: 'icon.svg', alt: '', width: '40', height: '40' }), 'Keelson'),
      h('h1', {}, 'Log in to the console'),
      h('p', { class: 'muted' }, `The console acts as you on ${location.host}: you see what your roles allow.`),
      field('Bearer token or kubeconfig', token, 'Sent to this server only. Ctrl+Enter logs in.'),
      field('Logical cluster', cluster, 'Only for a token of a logical cluster. A kubeconfig of one fills it.'),
      h('label', { class: 'check', for: 'keep' }, keep, 'Keep the token until this tab is closed'),
      problem,
      submit,
      certificate,
    ),
  );
  queueMicrotask(() => token.focus());
  return { element, stop: () => undefined };
}
