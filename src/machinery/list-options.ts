import { ApiError } from './api-error.js';
import { everyField, parseFieldSelector, type FieldSelector } from './field-selector.js';
import { fieldError, goQuote, type FieldError } from './field-error.js';
import { int64Max, isInt64, toInt64, type Int64 } from './int64.js';
import type { JsonObject, JsonValue } from './kube-object.js';
import { everyLabel, parseLabelSelector, type LabelSelector } from './label-selector.js';
import { fieldManagerLengthMax, validateFieldManager } from './names.js';
import { isTrueParameter, type Query } from './query.js';
import { noRevision, revisionOf, type Revision } from './revision.js';
import { parseShardSelector, type ShardSelector } from './shard-selector.js';

/**
 * Parses and validates the options of all verbs from the query, and for deletions from the body. Throws 400 for invalid
 * syntax and 422 for invalid combinations.
 */
export interface OptionsContext {
  /** The group of options kinds in messages: `meta.k8s.io`. */
  readonly metaGroup: string;
}

export interface GetOptions {
  readonly resourceVersion: string | undefined;
}

export type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

export interface ListOptions {
  /** Undefined if absent; '' and undefined mean the most recent state. */
  readonly resourceVersion: string | undefined;
  readonly resourceVersionMatch: ResourceVersionMatch | undefined;
  /** 0 means no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly timeoutSeconds: number | undefined;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  /** Defaults to true for a watch from the most recent or any version. */
  readonly sendInitialEvents: boolean | undefined;
  /** Undefined if absent or if the feature gate is off. */
  readonly shard: ShardSelector | undefined;
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** '' if absent: derived from the user agent then. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
}
export type CreateOptions = WriteOptions;
export type UpdateOptions = WriteOptions;
export interface PatchOptions extends WriteOptions {
  readonly force: boolean;
}

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

// --- reads --------------------------------------------------------------------------------------------------------

export function parseGetOptions(query: Query): GetOptions {
  return { resourceVersion: resourceVersionIn(query) };
}

/** Returns the resourceVersion without leading zeros: `00` is the same as `0`. */
function resourceVersionIn(query: Query): string | undefined {
  return query.first('resourceVersion')?.replace(/^0+(?=[0-9]+$)/, '');
}

export interface ListContext extends OptionsContext {
  /** True for the deprecated `/watch/` paths. */
  readonly isWatchPath?: boolean;
  /** The feature gate of `sendInitialEvents`. */
  readonly watchListEnabled?: boolean;
  /** The feature gate of `shardSelector`; if off, the parameter is ignored. */
  readonly shardingEnabled?: boolean;
}

export function parseListOptions(query: Query, context: ListContext): ListOptions {
  const watch = (context.isWatchPath ?? false) || isTrueParameter(query.first('watch'));
  const watchListEnabled = context.watchListEnabled ?? true;
  const timeoutSeconds = boundedParameter(query, 'timeoutSeconds');
  const limit = boundedParameter(query, 'limit') ?? 0;
  const labels = query.first('labelSelector');
  const fields = query.first('fieldSelector');
  const shardSelector = context.shardingEnabled ? (query.first('shardSelector') ?? '') : '';
  const resourceVersion = resourceVersionIn(query);
  const match = query.first('resourceVersionMatch') ?? '';
  const sendInitialEvents = query.has('sendInitialEvents')
    ? isTrueParameter(query.first('sendInitialEvents'))
    : undefined;
  const parsed = {
    labels: labels === undefined ? everyLabel : parseLabelSelector(labels),
    fields: fields === undefined ? everyField : parseFieldSelector(fields),
  };

  const raw = {
    resourceVersion: resourceVersion ?? '',
    match,
    continue: query.first('continue') ?? '',
    sendInitialEvents,
  };
  const fromStart = raw.resourceVersion === '' || raw.resourceVersion === '0';
  const sendsUnasked = watch && watchListEnabled && fromStart && sendInitialEvents === undefined && match === '';
  const checked = sendsUnasked ? { ...raw, match: 'NotOlderThan', sendInitialEvents: true } : raw;
  const errors = watch ? watchProblems(checked, watchListEnabled) : listProblems(checked);
  if (errors.length > 0) throw ApiError.invalid({ group: context.metaGroup, kind: 'ListOptions' }, '', errors);

  return {
    resourceVersion,
    resourceVersionMatch: checked.match === '' ? undefined : (checked.match as ResourceVersionMatch),
    limit: Math.max(0, limit),
    continue: raw.continue,
    ...parsed,
    timeoutSeconds,
    watch,
    allowWatchBookmarks: isTrueParameter(query.first('allowWatchBookmarks')),
    sendInitialEvents: checked.sendInitialEvents,
    shard: shardSelector === '' ? undefined : parseShardSelector(shardSelector),
  };
}

interface ListFacts {
  readonly resourceVersion: string;
  readonly match: string;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
}

function listProblems(facts: ListFacts): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (message: string) => errors.push(fieldError.forbidden('resourceVersionMatch', message));
  if (facts.match !== '') {
    if (facts.resourceVersion === '') refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (facts.continue !== '') refuse('resourceVersionMatch is forbidden when continue is provided');
    if (facts.match !== 'Exact' && facts.match !== 'NotOlderThan') {
      errors.push(fieldError.notSupported('resourceVersionMatch', facts.match, ['Exact', 'NotOlderThan', '']));
    }
    if (facts.match === 'Exact' && facts.resourceVersion === '0') {
      refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (facts.sendInitialEvents !== undefined) {
    errors.push(fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchProblems(facts: ListFacts, watchListEnabled: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (message: string) => errors.push(fieldError.forbidden('resourceVersionMatch', message));
  if (facts.sendInitialEvents !== undefined) {
    if (facts.match !== 'NotOlderThan') {
      refuse('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    }
    if (!watchListEnabled) {
      errors.push(
        fieldError.forbidden(
          'sendInitialEvents',
          'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        ),
      );
    }
  }
  if (facts.match !== '') {
    if (facts.sendInitialEvents === undefined) {
      refuse('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    }
    if (facts.match !== 'NotOlderThan') {
      errors.push(fieldError.notSupported('resourceVersionMatch', facts.match, ['NotOlderThan']));
    }
    if (facts.continue !== '') refuse('resourceVersionMatch is forbidden when continue is provided');
  }
  return errors;
}

// --- writes -------------------------------------------------------------------------------------------------------

export function parseCreateOptions(query: Query, context: OptionsContext): CreateOptions {
  return writeOptions(query, 'CreateOptions', context, []);
}

export function parseUpdateOptions(query: Query, context: OptionsContext): UpdateOptions {
  return writeOptions(query, 'UpdateOptions', context, []);
}

/** Server-side apply requires a field manager and may force; other patches may not. */
export function parsePatchOptions(query: Query, context: OptionsContext & { readonly isApply: boolean }): PatchOptions {
  const errors: FieldError[] = [];
  if (!context.isApply && query.has('force')) {
    errors.push(fieldError.forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (context.isApply && (query.first('fieldManager') ?? '') === '') {
    errors.push(fieldError.required('fieldManager', 'is required for apply patch'));
  }
  const options = writeOptions(query, 'PatchOptions', context, errors);
  return { ...options, force: isTrueParameter(query.first('force')) };
}

const noWriteOptions: WriteOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Warn' };
const fieldValidations: readonly string[] = ['Ignore', 'Strict', 'Warn'];

function writeOptions(query: Query, kind: string, context: OptionsContext, errors: FieldError[]): WriteOptions {
  if (query.raw === '' && errors.length === 0) return noWriteOptions;
  const fieldManager = query.first('fieldManager') ?? '';
  const dryRun = dryRunOf(query);
  const fieldValidation = query.first('fieldValidation') ?? '';
  if (Buffer.byteLength(fieldManager) > fieldManagerLengthMax) {
    errors.push(fieldError.tooLong('fieldManager', fieldManagerLengthMax));
  }
  for (const problem of validateFieldManager(fieldManager)) {
    errors.push(fieldError.invalid('fieldManager', fieldManager, problem));
  }
  errors.push(...dryRunProblems(dryRun));
  if (fieldValidation !== '' && !fieldValidations.includes(fieldValidation)) {
    errors.push(fieldError.notSupported('fieldValidation', fieldValidation, ['', ...fieldValidations]));
  }
  if (errors.length > 0) throw ApiError.invalid({ group: context.metaGroup, kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
  };
}

/** `?dryRun` without a value counts as absent. */
function dryRunOf(query: Query): readonly string[] {
  return query.isBare('dryRun') ? [] : query.all('dryRun');
}

function dryRunProblems(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((stage) => stage === 'All') ? [] : [fieldError.notSupported('dryRun', dryRun, ['All'])];
}

// --- deletions ----------------------------------------------------------------------------------------------------

export interface DeleteContext extends OptionsContext {
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
        fieldError.invalid(unsafeDeletionOption, true, 'is for one object that cannot be read, not for a collection'),
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

// --- scalars ------------------------------------------------------------------------------------------------------

function int64Parameter(query: Query, name: string): Int64 | undefined {
  const text = query.first(name);
  if (text === undefined) return undefined;
  if (!/^[-+]?[0-9]+$/.test(text)) throw ApiError.badRequest(parseIntError(text, 'invalid syntax'));
  const digits = text.replace(/^[-+]?0*/, '');
  const exact = digits.length > 19 ? int64Max + 1n : BigInt(digits === '' ? '0' : digits);
  const isNegative = text.startsWith('-');
  if (exact > (isNegative ? int64Max + 1n : int64Max)) {
    throw ApiError.badRequest(parseIntError(text, 'value out of range'));
  }
  return toInt64(isNegative ? -exact : exact);
}

/** Numbers beyond Number.MAX_SAFE_INTEGER are reduced to it. */
function boundedParameter(query: Query, name: string): number | undefined {
  const value = int64Parameter(query, name);
  if (typeof value !== 'bigint') return value;
  return value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

const parseIntError = (text: string, problem: string): string =>
  `strconv.ParseInt: parsing ${goQuote(text)}: ${problem}`;

/**
 * Converts a resourceVersion to a revision; '' and '0' are the first one. Throws 400 for an invalid resourceVersion.
 */
export function revisionOption(resourceVersion: string): Revision {
  if (resourceVersion === '') return noRevision;
  const isNumber = /^[0-9]+$/.test(resourceVersion);
  const digits = resourceVersion.replace(/^0+/, '');
  const isTooLarge = isNumber && (digits.length > 20 || (digits.length === 20 && digits > uint64MaxText));
  if (isNumber && !isTooLarge) return revisionOf(Math.min(Number(digits || '0'), Number.MAX_SAFE_INTEGER));
  const problem = isTooLarge ? 'value out of range' : 'invalid syntax';
  const shown = goQuote(resourceVersion);
  throw ApiError.badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: ${problem}`,
  );
}
const uint64MaxText = '18446744073709551615';
