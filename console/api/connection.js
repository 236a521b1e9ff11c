import { printJson, tryJson } from './json.js';
import { statusOf } from './status.js';

const refusalsMax = 50;
const messageLengthMax = 4000;
/** A segment `.` or `..`, which the browser would remove: a link could name another object than the one that is shown. */
const isWalking = /^[^?]*\/\.\.?(\/|\?|$)/;

/** A DNS label, the only names that logical clusters have. */
const clusterName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A request without an answer: the server has ended, or cannot be reached. */
class Unanswered extends Error {
  isUnanswered = true;

  constructor(cause) {
    super('The server does not answer.', { cause });
  }
}

/** An answer with an error status. The message is text of the server: show it with textContent only. */
class ApiFailure extends Error {
  constructor(status, message, reason, body) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.body = body;
  }
}

/**
 * Requests to the server that served this page, with the bearer token of the user or, without one, the client certificate
 * of the browser. Redirects are refused, so that a token is never sent elsewhere. With the name of a logical cluster all
 * requests go to it: paths are those below `/clusters/NAME`.
 *
 * Events: unanswered and answered, for requests without an answer and with one that is no error of a server (5xx);
 * unauthorized (401); refused (403).
 */
export class Connection extends EventTarget {
  #token;
  #prefix;

  constructor(token, cluster = '') {
    super();
    if (cluster !== '' && !clusterName.test(cluster)) throw new Error(`not a name of a logical cluster: ${cluster}`);
    this.#token = token;
    this.#prefix = cluster === '' ? '' : `/clusters/${cluster}`;
    /** Requests that were answered with 403, the latest first: { method, path, message, at }. */
    this.refusals = [];
  }

  /** Sends a request and returns the Response of any status. The path begins with a slash. */
  async send(path, { method = 'GET', body, accept = 'application/json', contentType, headers = {}, signal } = {}) {
    if (!path.startsWith('/') || path.startsWith('//') || isWalking.test(path))
      throw new Error(`not a path of this server: ${path}`);
    const sent = fetch(`${this.#prefix}${path}`, {
      method,
      signal,
      body: body === undefined ? undefined : typeof body === 'string' ? body : printJson(body),
      headers: {
        Accept: accept,
        ...(this.#token === '' ? {} : { Authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
        ...headers,
      },
      cache: 'no-store',
      credentials: 'same-origin',
      mode: 'same-origin',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
    let response;
    try {
      response = await sent;
    } catch (error) {
      if (signal?.aborted) throw error;
      this.dispatchEvent(new Event('unanswered'));
      throw new Unanswered(error);
    }
    if (response.status < 500) this.dispatchEvent(new Event('answered'));
    if (response.status === 401) this.dispatchEvent(new Event('unauthorized'));
    return response;
  }

  /** Returns the text of a successful answer; throws an ApiFailure otherwise. `warned` gets the server's warnings. */
  async text(path, { warned, ...options } = {}) {
    const response = await this.send(path, options);
    const text = await response.text();
    warned?.(warningsOf(response.headers.get('Warning') ?? ''));
    if (response.ok) return text;
    throw this.failure(response, text, path, options.method);
  }

  /** Returns the JSON of a successful answer. */
  async json(path, options) {
    const text = await this.text(path, options);
    const value = tryJson(text);
    if (value === undefined) throw new ApiFailure(502, `the answer to ${path} is not JSON`, 'BadAnswer', text);
    return value;
  }

  failure(response, text, path, method = 'GET') {
    const status = statusOf(text);
    const known = typeof status?.message === 'string' && status.message !== '';
    const whole = known ? status.message : text.trim() || `${response.status} ${response.statusText}`;
    const message = whole.slice(0, messageLengthMax);
    const reason = typeof status?.reason === 'string' ? status.reason : '';
    if (response.status === 403) {
      const others = this.refusals.filter((one) => one.method !== method || one.path !== path);
      this.refusals = [{ method, path, message, at: Date.now() }, ...others].slice(0, refusalsMax);
      this.dispatchEvent(new Event('refused'));
    }
    return new ApiFailure(response.status, message, reason, status);
  }
}

/** Returns the texts of Warning headers. Their bytes are UTF-8, which the browser has read as Latin-1. */
function warningsOf(header) {
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted]) => {
    const text = quoted.replace(/\\(.)/g, '$1');
    return new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  });
}
