import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headersFor, sendBytes } from '../answers/answer.js';
import type { AuthorizationAttributes } from '../auth/authorizer.js';
import { encodeCborValue } from '../codec/cbor-encoder.js';
import { CborWriter, majorTypes } from '../codec/cbor-writer.js';
import { ApiError } from '../machinery/api-error.js';
import type { Query } from '../machinery/query.js';
import { revisionOf, type Revision } from '../machinery/revision.js';
import { fromStore } from '../registry/storage-to-api-error.js';
import type { Cancellation } from '../std/cancellation.js';
import type { Clock } from '../std/clock.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { KeyValue, KvStore } from '../storage/kv-store.js';

interface Options {
  /** With decrypted values. */
  readonly store: KvStore;
  /** Of the keys that belong to this server; '' if the whole store does. */
  readonly prefix: string;
  /** The value of --etcd-prefix. */
  readonly etcdPrefix: string;
  readonly refusalOf: (attributes: AuthorizationAttributes) => Promise<ApiError | undefined>;
  readonly clock: Clock;
}

interface Position {
  readonly from: string;
  /** That of the first answer if it is undefined. */
  readonly revision: Revision | undefined;
}

interface Page {
  readonly items: readonly KeyValue[];
  readonly revision: Revision;
  readonly isLast: boolean;
}

const keysMax = 1_000;
const keysAtOnce = 100;
/** Except for a page of one key. */
const pageBytesMax = 4 * 1024 * 1024;
/** More than keys have; stores limit theirs. */
const keyCharactersMax = 1_500;
/** The tag of bytes that readers without byte strings take as base64. */
const base64Tag = 22;

/**
 * GET /debug/state returns a page of all keys and values of the store at one revision, as a CBOR sequence:
 *
 *   { kind: KeelsonState, formatVersion, etcdPrefix, resourceVersion, isLast }   [key, value, createRevision, modRevision] …
 *
 * `after` is the last key of the page before, and `resourceVersion` the revision of all pages. The values contain all
 * Secrets, so that only users who may do everything get them: permission for the path alone is not enough.
 */
export function storeStateController({ store, prefix, etcdPrefix, refusalOf, clock }: Options) {
  const writer = new CborWriter();

  @Controller()
  class StoreStateController {
    @All('debug/state')
    async handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      if (request.raw.method !== 'GET') throw ApiError.methodNotAllowed();
      const { user, info, signal } = request.kube;
      const everything = {
        verb: '*',
        group: '*',
        version: '*',
        resource: '*',
        subresource: '',
        namespace: '',
        name: '',
      };
      const refusal = await refusalOf({ user, ...everything, isResourceRequest: true, path: '' });
      if (refusal) throw refusal;
      const body = encodePage(await readPage(positionOf(info.query), signal));
      sendBytes(request, reply, 200, headersFor(request, 'application/cbor-seq'), body);
    }
  }

  function positionOf(query: Query): Position {
    const [after, resourceVersion] = [query.first('after'), query.first('resourceVersion')];
    if (after !== undefined && (!after.startsWith(prefix) || after.length > keyCharactersMax)) {
      throw ApiError.badRequest('after: must be the last key of the page before');
    }
    if (resourceVersion !== undefined && !/^[1-9]\d{0,14}$/.test(resourceVersion)) {
      throw ApiError.badRequest('resourceVersion: must be a positive whole number');
    }
    return {
      from: after === undefined ? prefix : `${after}\0`,
      revision: resourceVersion === undefined ? undefined : revisionOf(Number(resourceVersion)),
    };
  }

  /** Reads few keys at a time, since each may have a large value. */
  async function readPage({ from, revision }: Position, signal: Cancellation): Promise<Page> {
    const items: KeyValue[] = [];
    const timer = new YieldTimer(clock);
    let bytes = 0;
    for (;;) {
      const options = { from, limit: keysAtOnce, signal, ...(revision !== undefined && { revision }) };
      const range = await fromStore(store.range(prefix, options));
      revision ??= range.revision;
      for (const item of range.items) {
        bytes += item.value.length;
        if (bytes > pageBytesMax && items.length > 0) return { items, revision, isLast: false };
        items.push(item);
      }
      const isLast = range.items.length === range.count;
      if (isLast || items.length >= keysMax) return { items, revision, isLast };
      from = `${range.items.at(-1)!.key}\0`;
      if (timer.isDue()) await timer.yield();
    }
  }

  function encodePage({ items, revision, isLast }: Page): Buffer {
    const header = { kind: 'KeelsonState', formatVersion: 1, etcdPrefix, resourceVersion: String(revision), isLast };
    writer.clear();
    encodeCborValue(writer, header, undefined);
    const pieces: Buffer[] = [];
    for (const { key, value, createRevision, modRevision, failure } of items) {
      if (failure) throw ApiError.internal(`the value of ${key} cannot be decrypted: ${failure.message}`);
      writer.head(majorTypes.array, 4);
      encodeCborValue(writer, key, undefined);
      writer.head(majorTypes.tag, base64Tag);
      writer.head(majorTypes.bytes, value.length);
      pieces.push(writer.take(), value);
      writer.integer(createRevision);
      writer.integer(modRevision);
    }
    return Buffer.concat([...pieces, writer.take()]);
  }

  return StoreStateController;
}
