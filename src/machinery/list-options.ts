import { ApiError } from './api-error.js';
import { everyField, parseFieldSelector, type FieldSelector } from './field-selector.js';
import { fieldError, type FieldError } from './field-error.js';
import { everyLabel, type LabelSelector } from './label-selector.js';
import { parseLabelSelector } from './label-selector-parser.js';
import { isTrueParameter, type Query } from './query.js';
import { parseShardSelector, type ShardSelector } from './shard-selector.js';
import { boundedParameter, type OptionsContext } from './option-parameters.js';

interface GetOptions {
  readonly resourceVersion: string | undefined;
}

type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

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
