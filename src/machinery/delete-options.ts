import { ApiError } from './api-error.js';
import { fieldError, goQuote, type FieldError } from './field-error.js';
import { isInt64, type Int64 } from './int64.js';
import type { JsonObject, JsonValue } from './kube-object.js';
import { isTrueParameter, type Query } from './query.js';
import { dryRunOf, dryRunProblems, int64Parameter, type OptionsContext } from './option-parameters.js';

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan';

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: Int64 | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions:
    { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential: boolean;
}

export const plainDelete: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: undefined,
  ignoreStoreReadErrorWithClusterBreakingPotential: false,
};

interface DeleteContext extends OptionsContext {
  /** The feature gate of deleting corrupt objects; if off, the option is ignored. */
  readonly unsafeDeletionEnabled?: boolean;
  readonly isCollection?: boolean;
}

/** If there is a body, the query is ignored. */
export function parseDeleteOptions(query: Query, body: JsonValue | undefined, context: DeleteContext): DeleteOptions {
  const raw = body === undefined ? deleteQuery(query) : deleteBody(body, query);
  const isUnsafe = (context.unsafeDeletionEnabled ?? false) && raw.isUnsafe === true;
  const { propagationPolicy, orphanDependents } = raw;
  const errors: FieldError[] = [];
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    const message = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(fieldError.invalid('propagationPolicy', propagationPolicy, message));
  }
  if (propagationPolicy !== undefined && !propagationPolicies.includes(propagationPolicy)) {
    errors.push(fieldError.notSupported('propagationPolicy', propagationPolicy, [...propagationPolicies, 'nil']));
  }
  errors.push(...dryRunProblems(raw.dryRun));
  if (isUnsafe) {
    const others: readonly [string, boolean][] = [
      ['dryRun', raw.dryRun.length > 0],
      ['propagationPolicy', propagationPolicy !== undefined],
      ['orphanDependents', orphanDependents !== undefined],
      ['gracePeriodSeconds', raw.gracePeriodSeconds !== undefined],
      ['preconditions', raw.preconditions !== undefined],
    ];
    for (const [name, isSet] of others) {
      if (isSet) errors.push(fieldError.invalid(unsafeDeletionOption, true, `cannot be set together with .${name}`));
    }
    if (context.isCollection) {
      errors.push(
        fieldError.invalid(
          unsafeDeletionOption,
          true,
          'is not allowed with DELETECOLLECTION, try again after removing the option',
        ),
      );
    }
  }
  if (errors.length > 0) throw ApiError.invalid({ group: context.metaGroup, kind: 'DeleteOptions' }, '', errors);
  return {
    dryRun: raw.dryRun.length > 0,
    gracePeriodSeconds: raw.gracePeriodSeconds,
    propagationPolicy: propagationPolicy as PropagationPolicy | undefined,
    orphanDependents,
    preconditions: raw.preconditions,
    ignoreStoreReadErrorWithClusterBreakingPotential: isUnsafe,
  };
}

const propagationPolicies: readonly string[] = ['Foreground', 'Background', 'Orphan'];

export const unsafeDeletionOption = 'ignoreStoreReadErrorWithClusterBreakingPotential';

interface DeleteFacts {
  dryRun: readonly string[];
  gracePeriodSeconds: Int64 | undefined;
  propagationPolicy: string | undefined;
  orphanDependents: boolean | undefined;
  preconditions: { uid?: string; resourceVersion?: string } | undefined;
  isUnsafe: boolean | undefined;
}

function deleteQuery(query: Query): DeleteFacts {
  const truth = (name: string) => (query.has(name) ? isTrueParameter(query.first(name)) : undefined);
  const uid = query.first('uid') ?? '';
  return {
    dryRun: dryRunOf(query),
    gracePeriodSeconds: int64Parameter(query, 'gracePeriodSeconds'),
    propagationPolicy: query.first('propagationPolicy'),
    orphanDependents: truth('orphanDependents'),
    preconditions: uid === '' ? undefined : { uid },
    isUnsafe: truth(unsafeDeletionOption),
  };
}

function deleteBody(body: JsonValue, query: Query): DeleteFacts {
  if (body !== null && (typeof body !== 'object' || Array.isArray(body))) {
    throw cannotUnmarshal(body, 'value of type v1.DeleteOptions');
  }
  const object: JsonObject = body ?? {};
  const kind = optional(object, 'kind', 'string');
  const apiVersion = optional(object, 'apiVersion', 'string') ?? 'v1';
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw ApiError.badRequest(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"`,
    );
  }
  const grace = own(object, 'gracePeriodSeconds') ?? undefined;
  if (grace !== undefined && !isInt64(grace)) {
    throw cannotUnmarshal(grace, 'struct field DeleteOptions.gracePeriodSeconds of type int64');
  }
  return {
    // dryRun in either place counts, so that a dry run never deletes an object.
    dryRun: [...stringList(object, 'dryRun'), ...dryRunOf(query)],
    gracePeriodSeconds: grace,
    propagationPolicy: optional(object, 'propagationPolicy', 'string'),
    orphanDependents: optional(object, 'orphanDependents', 'boolean'),
    preconditions: preconditionsOf(object),
    isUnsafe: optional(object, unsafeDeletionOption, 'boolean'),
  };
}

function preconditionsOf(options: JsonObject): DeleteFacts['preconditions'] {
  const found = own(options, 'preconditions');
  if (found === undefined || found === null) return undefined;
  if (typeof found !== 'object' || Array.isArray(found)) {
    throw cannotUnmarshal(found, 'struct field DeleteOptions.preconditions of type v1.Preconditions');
  }
  const uid = optional(found, 'uid', 'string');
  const resourceVersion = optional(found, 'resourceVersion', 'string');
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
}

interface ScalarTypes {
  string: string;
  number: number;
  boolean: boolean;
}

const goTypes = { string: 'string', number: 'int64', boolean: 'bool' } as const;

/** Absent and null are equal; values of another type are rejected. */
function optional<T extends keyof ScalarTypes>(object: JsonObject, name: string, type: T): ScalarTypes[T] | undefined {
  const value = own(object, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type)
    throw cannotUnmarshal(value, `struct field DeleteOptions.${name} of type ${goTypes[type]}`);
  return value as ScalarTypes[T];
}

function stringList(object: JsonObject, name: string): readonly string[] {
  const value = own(object, name) ?? null;
  if (value === null) return [];
  if (!Array.isArray(value)) throw cannotUnmarshal(value, `struct field DeleteOptions.${name} of type []string`);
  return value.map((item) => {
    if (typeof item !== 'string') throw cannotUnmarshal(item, `struct field DeleteOptions.${name} of type string`);
    return item;
  });
}

const own = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

function cannotUnmarshal(value: JsonValue, target: string): ApiError {
  const names: Readonly<Record<string, string>> = { boolean: 'bool', bigint: 'number' };
  const type = Array.isArray(value) ? 'array' : (names[typeof value] ?? typeof value);
  return ApiError.badRequest(`json: cannot unmarshal ${type} into Go ${target}`);
}
