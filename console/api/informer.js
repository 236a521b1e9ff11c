import { LineSplitter } from './json-lines.js';
import { tryJson } from './json.js';

const pageSize = 500;
const retryMsMin = 500;
const retryMsMax = 30_000;
/** A watch that lives as long, or has an event, shows that the server works. */
const steadyMs = 5_000;
const watchSeconds = 300;

/** Statuses that do not pass, unless the collection was watched before: then rights or a definition may come back. */
const endingStatuses = new Set([401, 403, 404, 405]);

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
export const asMetadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
export const asMetadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

/**
 * Lists a collection and follows its changes: pages, then a watch from the revision of the list. A watch that ends is
 * resumed from the last revision seen, bookmarks too; if the server does not have that revision, the collection is listed
 * anew. Attempts that reach nothing are made ever more rarely, and at once when the server answers another request again.
 *
 * Calls of `handlers`: reset() before each list; objects(entries, columns) for pages, for all at once if the collection is
 * listed anew; events([{ type, entry, revision }]) for each chunk of the watch; state(name, detail) with listing, live,
 * waiting or failed.
 */
export class Informer {
  #abort = new AbortController();
  #columns;
  /** True if the watch that has ended showed that the server works. */
  #isSteady;
  #wasListed = false;
  #wasLive = false;

  constructor(connection, { path, accept = asTable, listAccept = accept, query = {} }, handlers) {
    this.connection = connection;
    this.request = { path, accept, listAccept, query };
    this.handlers = handlers;
    this.revision = '';
  }

  start() {
    void this.#run();
    return this;
  }

  stop() {
    this.#abort.abort();
  }

  get isStopped() {
    return this.#abort.signal.aborted;
  }

  async #run() {
    let retryMs = 0;
    while (!this.isStopped) {
      let failure = new Error('the watch has ended');
      this.#isSteady = () => false;
      try {
        if (retryMs > 0 && this.revision !== '') await this.#forgetUnknownRevision();
        if (this.revision === '') await this.#list();
        await this.#watch();
      } catch (error) {
        if (this.isStopped) return;
        if (error.status === 410) this.revision = '';
        failure = error;
      }
      const isRefused = endingStatuses.has(failure.status);
      if (isRefused && !this.#wasLive) return this.handlers.state?.('failed', failure.message);
      retryMs = this.#isSteady() ? 0 : Math.min(Math.max(2 * retryMs, retryMsMin), retryMsMax);
      if (retryMs === 0) continue;
      this.handlers.state?.(isRefused ? 'failed' : 'waiting', failure.message);
      await this.#pause(retryMs, failure);
    }
  }

  /** A server whose store began anew would wait for a revision of the old one, without an event. */
  async #forgetUnknownRevision() {
    const { path, listAccept } = this.request;
    const { metadata } = await this.connection.json(`${path}?limit=1`, {
      accept: listAccept,
      signal: this.#abort.signal,
    });
    if (Number(metadata?.resourceVersion) < Number(this.revision)) this.revision = '';
  }

  async #list() {
    const { path, listAccept, query } = this.request;
    this.handlers.state?.('listing');
    let token = '';
    const pages = [];
    const show = (page) => this.handlers.objects?.(this.#entriesOf(page), this.#columns);
    do {
      const parameters = new URLSearchParams({ ...query, limit: String(pageSize) });
      if (token !== '') parameters.set('continue', token);
      const { signal } = this.#abort;
      const page = await this.connection.json(`${path}?${parameters}`, { accept: listAccept, signal });
      if (this.isStopped) return;
      if (pages.length === 0 && !this.#wasListed) this.handlers.reset?.();
      pages.push(page);
      if (!this.#wasListed) show(page);
      token = page.metadata?.continue ?? '';
      if (token === '') this.revision = String(page.metadata?.resourceVersion ?? '');
    } while (token !== '');
    if (this.revision === '') throw new Error('the list has no resourceVersion');
    if (this.#wasListed) {
      // Keep what is shown until all is known: no list grows again before the eyes of the user.
      this.handlers.reset?.();
      pages.forEach(show);
    }
    this.#wasListed = true;
  }

  async #watch() {
    const { path, accept, query } = this.request;
    const parameters = new URLSearchParams({
      ...query,
      watch: '1',
      allowWatchBookmarks: 'true',
      resourceVersion: this.revision,
      timeoutSeconds: String(watchSeconds),
    });
    const url = `${path}?${parameters}`;
    const response = await this.connection.send(url, { accept, signal: this.#abort.signal });
    if (!response.ok) throw this.connection.failure(response, await response.text(), url);
    this.#wasLive = true;
    this.handlers.state?.('live');
    const [since, sinceMs] = [this.revision, performance.now()];
    this.#isSteady = () => !['', since].includes(this.revision) || performance.now() - sinceMs >= steadyMs;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const splitter = new LineSplitter();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.isStopped) return;
      const events = splitter.push(value).flatMap((line) => this.#event(line));
      if (events.length > 0) this.handlers.events?.(events);
    }
  }

  /** Returns the event of a line, none for bookmarks; throws for errors. */
  #event(line) {
    const event = tryJson(line);
    if (typeof event?.type !== 'string') return [];
    if (event.type === 'ERROR') {
      throw Object.assign(new Error(String(event.object?.message ?? 'the watch failed')), {
        status: event.object?.code,
      });
    }
    const [entry] = this.#entriesOf(event.object ?? {});
    const revision = entry?.metadata.resourceVersion ?? event.object?.metadata?.resourceVersion;
    if (revision !== undefined) this.revision = String(revision);
    if (event.type === 'BOOKMARK') return [];
    return entry ? [{ type: event.type, entry, revision: this.revision }] : [];
  }

  /** Returns { metadata, cells } of a Table, a list or a single object. */
  #entriesOf(value) {
    if (value.kind === 'Table') {
      if (value.columnDefinitions?.length > 0) this.#columns = value.columnDefinitions;
      return (value.rows ?? []).flatMap(({ cells, object }) =>
        object?.metadata ? [{ metadata: object.metadata, cells: cells ?? [] }] : [],
      );
    }
    const items = Array.isArray(value.items) ? value.items : value.metadata?.uid ? [value] : [];
    return items.flatMap(({ metadata }) => (metadata ? [{ metadata, cells: [metadata.name ?? ''] }] : []));
  }

  #pause(ms, { isUnanswered = false }) {
    const { signal } = this.#abort;
    const over = new AbortController();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const once = { once: true, signal: over.signal };
      signal.addEventListener('abort', resolve, once);
      if (isUnanswered) this.connection.addEventListener('answered', resolve, once);
      over.signal.addEventListener('abort', () => clearTimeout(timer));
    }).finally(() => over.abort());
  }
}
