import { announce, fill, h } from '../ui/dom.js';
import { clockTime } from '../ui/time.js';

const retryMsMin = 1_000;
const retryMsMax = 15_000;

/**
 * Says that the server does not answer, and asks it again, ever more rarely, until there is an answer to any request. Then
 * it calls `returned()`. A server that is ready answers the path without an error; one that may not be asked answers 403.
 */
export function awayBanner(connection, returned) {
  const stopped = new AbortController();
  const { signal } = stopped;
  let since;
  let pauseMs = retryMsMin;
  let nextMs = 0;
  let isAsking = false;
  const text = h('span', { role: 'alert' });
  const countdown = h('span', { class: 'mono' });
  const now = h('button', { type: 'button', class: 'button small', onclick: () => void ask() }, 'Try now');
  const element = h('div', { class: 'away', hidden: true }, text, countdown, h('span', { class: 'spacer' }), now);

  const ask = async () => {
    if (since === undefined || isAsking) return;
    isAsking = true;
    countdown.textContent = 'Trying…';
    // An answer is an event of the connection; so is its absence.
    await connection.send('/readyz', { accept: '*/*', signal }).catch(() => undefined);
    isAsking = false;
    nextMs = performance.now() + pauseMs;
    pauseMs = Math.min(2 * pauseMs, retryMsMax);
    draw();
  };
  const draw = () => {
    if (since === undefined || isAsking) return;
    const seconds = Math.ceil((nextMs - performance.now()) / 1000);
    if (seconds <= 0) return void ask();
    countdown.textContent = `Next attempt in ${seconds} s`;
  };
  const began = () => {
    if (since !== undefined) return;
    since = Date.now();
    pauseMs = retryMsMin;
    nextMs = performance.now() + pauseMs;
    const title = h('strong', {}, `The server has not answered since ${clockTime(since)}.`);
    fill(text, title, ' What is shown may have changed; what you have typed is kept.');
    element.hidden = false;
    draw();
  };
  const ended = () => {
    if (since === undefined) return;
    since = undefined;
    element.hidden = true;
    announce('The server answers again.');
    returned();
  };
  connection.addEventListener('unanswered', began, { signal });
  connection.addEventListener('answered', ended, { signal });
  // Browsers know when the network returns; timers of a hidden page are late.
  addEventListener('online', () => void ask(), { signal });
  document.addEventListener('visibilitychange', () => void (document.hidden ? undefined : ask()), { signal });
  const clock = setInterval(draw, 250);
  signal.addEventListener('abort', () => clearInterval(clock));
  return { element, stop: () => stopped.abort() };
}
