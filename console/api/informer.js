import { LineSplitter } from './json-lines.js';
import { tryJson } from './json.js';

const pageSize = 500;
const retryMsMin = 500;
const retryMsMax = 30_000;
/** A watch that lives as long, or has an event, shows that the server works. */
const steadyMs = 5_000;
const watchSeconds = 300;

const endingStatuses = new Set([401, 403, 404, 405]);

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
export const asMetadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
export const asMetadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

/**
 * Lists a collection and follows its changes: pages, then a watch from the revision of the list. A watch that ends is
 * resumed from the last revision seen, bookmarks too; if the server does not have that revision, the collection is listed
 * anew. Attempts that reach nothing are made ever more rarely.
 *
 * Calls of `handlers`: reset() before each list; objects(entries, columns) for pages; events([{ type, entry, revision }])
 * for each chunk of the watch; state(name, detail) with listing, live, waiting, ended or failed.
 */
export class Informer {
  #abort = new AbortController();
  #columns;
  /** True if the watch that has ended showed that the server works. */
  #isSteady;

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
      let message = 'the watch has ended';
      this.#isSteady = () => false;
      try {
        if (retryMs > 0 && this.revision !== '') await this.#forgetUnknownRevision();
        if (this.revision === '') await this.#list();
        await this.#watch();
      } catch (error) {
        if (this.isStopped) return;
        if (endingStatuses.has(error.status)) return this.handlers.state?.('failed', error.message);
        if (error.status === 410) this.revision = '';
        message = error.message;
      }
      retryMs = this.#isSteady() ? 0 : Math.min(Math.max(2 * retryMs, retryMsMin), retryMsMax);
      if (retryMs === 0) continue;
      this.handlers.state?.('waiting', message);
      await this.#pause(retryMs);
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
    let isFirst = true;
    do {
      const parameters = new URLSearchParams({ ...query, limit: String(pageSize) });
      if (token !== '') parameters.set('continue', token);
      const { signal } = this.#abort;
      const page = await this.connection.json(`${path}?${parameters}`, { accept: listAccept, signal });
      if (this.isStopped) return;
      if (isFirst) this.handlers.reset?.();
      isFirst = false;
      this.handlers.objects?.(this.#entriesOf(page), this.#columns);
      token = page.metadata?.continue ?? '';
      if (token === '') this.revision = String(page.metadata?.resourceVersion ?? '');
    } while (token !== '');
    if (this.revision === '') throw new Error('the list has no resourceVersion');
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

  #pause(ms) {
    const { signal } = this.#abort;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
}
