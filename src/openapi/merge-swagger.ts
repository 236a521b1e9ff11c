import { isDeepStrictEqual } from 'node:util';
import type { RemoteSwagger } from '../aggregation/remote-documents.js';
import { parseReference } from '../aggregation/remote-swagger.js';
import { openApiV2Message } from '../codec/openapi-v2-proto.js';
import type { Clock } from '../std/clock.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { OpenApiV2Document } from './documents.js';
import type { Schema } from './type-schemas.js';

/**
 * Adds the paths of aggregated servers to a document. A path that the document has already stays as it is. Different
 * definitions and parameters of one name are kept apart by a suffix: `Widget`, `Widget_v2`.
 */
export function* mergeSwagger(own: OpenApiV2Document, others: readonly RemoteSwagger[]): Steps<OpenApiV2Document> {
  const paths = new Map(Object.entries(own.paths));
  const definitions = new Map<string, object>(Object.entries(own.definitions));
  const parameters = new Map(Object.entries(own.parameters));
  for (const other of others) {
    const names = {
      definitions: yield* namesOf(other.definitions, definitions),
      parameters: yield* namesOf(other.parameters, parameters),
    };
    const renamed = new Map<string, string>();
    for (const kind of ['definitions', 'parameters'] as const) {
      for (const [before, after] of names[kind]) if (before !== after) renamed.set(`#/${kind}/${before}`, after);
    }
    const copy = (value: object) => (renamed.size === 0 ? value : withReferences(value, renamed));
    for (const [kind, target] of [
      ['definitions', definitions],
      ['parameters', parameters],
    ] as const) {
      for (const [before, after] of names[kind]) {
        if (!target.has(after)) target.set(after, copy(other[kind][before]!));
        yield;
      }
    }
    for (const [path, item] of Object.entries(other.paths)) {
      if (!paths.has(path)) paths.set(path, copy(item));
      yield;
    }
  }
  return {
    ...own,
    paths: sorted(paths),
    definitions: sorted(definitions) as Record<string, Schema>,
    parameters: sorted(parameters),
  };
}

/** Chooses a name that is free, or has an equal value, for each value. */
function* namesOf(
  values: Readonly<Record<string, object>>,
  taken: ReadonlyMap<string, object>,
): Steps<Map<string, string>> {
  const names = new Map<string, string>();
  const chosen = new Set<string>();
  for (const [name, value] of Object.entries(values)) {
    let candidate = name;
    for (let suffix = 2; chosen.has(candidate) || !isFree(taken, candidate, value); suffix++) {
      candidate = `${name}_v${suffix}`;
    }
    names.set(name, candidate);
    chosen.add(candidate);
    yield;
  }
  return names;
}

function isFree(taken: ReadonlyMap<string, object>, name: string, value: object): boolean {
  const known = taken.get(name);
  return known === undefined || isDeepStrictEqual(known, value);
}

/** Copies a value, with other names in its references. */
function withReferences(value: object, renamed: ReadonlyMap<string, string>): object {
  return copied(value) as object;
  function copied(inner: unknown): unknown {
    if (Array.isArray(inner)) return inner.map(copied);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => {
        const name = key === '$ref' && typeof each === 'string' ? renamed.get(each) : undefined;
        return [key, name === undefined ? copied(each) : `#/${parseReference(each as string)![0]}/${name}`];
      }),
    );
  }
}

function sorted<T>(entries: ReadonlyMap<string, T>): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns why the document of another server cannot be encoded; undefined if it can. */
export async function openApiV2Problem(swagger: RemoteSwagger, clock: Clock): Promise<string | undefined> {
  try {
    await new YieldTimer(clock).run(openApiV2Message(swagger));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
