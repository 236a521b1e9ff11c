import { parseCreateOptions, parsePatchOptions } from './write-options.js';
import { parseDeleteOptions } from './delete-options.js';
import { parseGetOptions, parseListOptions, type ListContext } from './list-options.js';
import { revisionOption } from './option-parameters.js';
import type { JsonValue } from './kube-object.js';
import { Query } from './query.js';

const context = { metaGroup: 'meta.k8s.io' };
const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    const { code, message } = error as { code: number; message: string };
    return `${code} ${message}`;
  }
};
const noMatch = 'resourceVersionMatch: Forbidden: resourceVersionMatch is';
const listInvalid = '422 ListOptions.meta.k8s.io "" is invalid: ';

describe('parseListOptions', () => {
  const list = (query: string, rest: Partial<ListContext> = {}) =>
    outcome(() => {
      const { labels, fields, ...options } = parseListOptions(new Query(query), { ...context, ...rest });
      return { ...options, labels: labels.toString(), fields: fields.toString() };
    });

  it.each([
    ['', { limit: 0, continue: '', watch: false, resourceVersion: undefined, sendInitialEvents: undefined }],
    ['limit=-1', { limit: 0 }],
    ['limit=500&continue=abc', { limit: 500, continue: 'abc' }],
    ['resourceVersion=', { resourceVersion: '' }],
    ['resourceVersion=00', { resourceVersion: '0' }],
    ['resourceVersion=0070', { resourceVersion: '70' }],
    ['watch=1&resourceVersion=00', { resourceVersion: '0', sendInitialEvents: true }],
    ['resourceVersion=00x', { resourceVersion: '00x' }],
    ['resourceVersion=5&resourceVersionMatch=Exact', { resourceVersion: '5', resourceVersionMatch: 'Exact' }],
    ['resourceVersion=0&resourceVersionMatch=NotOlderThan', { resourceVersionMatch: 'NotOlderThan' }],
    ['labelSelector=b,a&fieldSelector=x==1', { labels: 'a,b', fields: 'x=1' }],
    ['watch=1', { watch: true, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }],
    ['watch=1&resourceVersion=0', { sendInitialEvents: true }],
    ['watch=1&resourceVersion=7', { sendInitialEvents: undefined, resourceVersionMatch: undefined }],
    ['watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', { sendInitialEvents: false }],
    [
      'watch=1&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=5',
      { allowWatchBookmarks: true, timeoutSeconds: 5 },
    ],
    ['limit=9223372036854775807', { limit: Number.MAX_SAFE_INTEGER }],
    ['shardSelector=x', { shard: undefined }],
  ])('%s', (query, want) => expect(list(query)).toMatchObject(want));

  it.each([
    ['limit=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=', '400 strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=1.5', '400 strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['limit=99999999999999999999', '400 strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ['timeoutSeconds=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['labelSelector=a=b=c', "400 found '=', expected: ',' or 'end of string'"],
    ['resourceVersionMatch=Exact', `${listInvalid}${noMatch} forbidden unless resourceVersion is provided`],
    [
      'resourceVersion=5&resourceVersionMatch=X',
      `${listInvalid}resourceVersionMatch: Unsupported value: "X": supported values: "Exact", "NotOlderThan", ""`,
    ],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      `${listInvalid}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    [
      'resourceVersion=00&resourceVersionMatch=Exact',
      `${listInvalid}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    [
      'limit=2&resourceVersionMatch=Exact&continue=x',
      `${listInvalid}[${noMatch} forbidden unless resourceVersion is provided, ${noMatch} forbidden when continue is provided]`,
    ],
    ['sendInitialEvents=true', `${listInvalid}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`],
    [
      'watch=1&sendInitialEvents=true',
      `${listInvalid}resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
    ],
    [
      'watch=1&resourceVersionMatch=NotOlderThan',
      `${listInvalid}${noMatch} forbidden for watch unless sendInitialEvents is provided`,
    ],
    ['watch=1&continue=x', `${listInvalid}${noMatch} forbidden when continue is provided`],
  ])('%s is rejected', (query, want) => expect(list(query)).toBe(want));

  it('respects feature gates and watch paths', () => {
    expect(list('', { isWatchPath: true })).toMatchObject({ watch: true });
    expect(list('shardSelector=', { shardingEnabled: true })).toMatchObject({ shard: undefined });
    expect(list('shardSelector=x', { shardingEnabled: true })).toMatch(/^400 invalid shardSelector: "x" is not/);
    expect(list('watch=1', { watchListEnabled: false })).toMatchObject({ sendInitialEvents: undefined });
    expect(list('watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan', { watchListEnabled: false })).toBe(
      `${listInvalid}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled`,
    );
  });
});

describe('parseCreateOptions', () => {
  const create = (query: string) => outcome(() => parseCreateOptions(new Query(query), context));
  const invalid = '422 CreateOptions.meta.k8s.io "" is invalid: ';
  it.each([
    ['', { dryRun: false, fieldManager: '', fieldValidation: 'Warn', hasFieldValidation: false }],
    ['dryRun', { dryRun: false }],
    ['dryRun=All&dryRun=All', { dryRun: true }],
    ['fieldManager=a%20b&fieldValidation=Strict', { fieldManager: 'a b', fieldValidation: 'Strict' }],
    ['fieldManager=%C3%A9', { fieldManager: 'é' }],
    ['fieldValidation=', { fieldValidation: 'Warn' }],
    ['unknown=1', {}],
  ])('%s', (query, want) => expect(create(query)).toMatchObject(want));
  it.each([
    ['dryRun=true', `${invalid}dryRun: Unsupported value: ["true"]: supported values: "All"`],
    ['dryRun=All&dryRun=X', `${invalid}dryRun: Unsupported value: ["All","X"]: supported values: "All"`],
    ['dryRun=', `${invalid}dryRun: Unsupported value: [""]: supported values: "All"`],
    [
      'fieldValidation=strict',
      `${invalid}fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`,
    ],
    [`fieldManager=${'m'.repeat(129)}`, `${invalid}fieldManager: Too long: may not be more than 128 bytes`],
    [
      'fieldManager=a%01b',
      `${invalid}fieldManager: Invalid value: "a\\x01b": invalid character U+0001 (at position 1)`,
    ],
  ])('%s is rejected', (query, want) => expect(create(query)).toBe(want));
});

describe('parsePatchOptions', () => {
  const patch = (query: string, isApply: boolean) =>
    outcome(() => parsePatchOptions(new Query(query), isApply, context));
  it.each([
    ['fieldManager=m&force=true', true, { force: true, fieldManager: 'm' }],
    ['', false, { force: false }],
  ])('%s apply=%s', (query, isApply, want) => expect(patch(query, isApply)).toMatchObject(want));
  it.each([
    ['', true, 'fieldManager: Required value: is required for apply patch'],
    ['force=true', false, 'force: Forbidden: may not be specified for non-apply patch'],
  ])('%s apply=%s is rejected', (query, isApply, want) =>
    expect(patch(query, isApply)).toBe(`422 PatchOptions.meta.k8s.io "" is invalid: ${want}`),
  );
});

describe('parseDeleteOptions', () => {
  const remove = (query: string, body?: JsonValue, unsafeDeletionEnabled = false) =>
    outcome(() => parseDeleteOptions(new Query(query), body, { ...context, unsafeDeletionEnabled }));
  const invalid = '422 DeleteOptions.meta.k8s.io "" is invalid: ';
  const policies = 'supported values: "Foreground", "Background", "Orphan", "nil"';
  it.each([
    ['', undefined, { dryRun: false, gracePeriodSeconds: undefined, preconditions: undefined }],
    ['gracePeriodSeconds=-1&dryRun=All', undefined, { gracePeriodSeconds: -1, dryRun: true }],
    ['gracePeriodSeconds=9223372036854775807', undefined, { gracePeriodSeconds: 2n ** 63n - 1n }],
    ['gracePeriodSeconds=-9223372036854775808', undefined, { gracePeriodSeconds: -(2n ** 63n) }],
    ['propagationPolicy=Orphan', undefined, { propagationPolicy: 'Orphan' }],
    ['orphanDependents=true', undefined, { orphanDependents: true }],
    ['uid=u', undefined, { preconditions: { uid: 'u' } }],
    ['propagationPolicy=X', {}, { propagationPolicy: undefined }],
    ['', { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 }, { gracePeriodSeconds: 0 }],
    ['', { gracePeriodSeconds: 2n ** 53n + 1n }, { gracePeriodSeconds: 2n ** 53n + 1n }],
    ['', { preconditions: { uid: 'u', resourceVersion: '1' } }, { preconditions: { uid: 'u', resourceVersion: '1' } }],
    [
      '',
      { dryRun: ['All'], orphanDependents: false, propagationPolicy: null },
      { dryRun: true, orphanDependents: false },
    ],
    ['', null, { dryRun: false }],
    ['dryRun=All&gracePeriodSeconds=1', { gracePeriodSeconds: 2 }, { dryRun: true, gracePeriodSeconds: 2 }],
    ['dryRun', { gracePeriodSeconds: 2 }, { dryRun: false }],
  ])('%s %p', (query, body, want) => expect(remove(query, body)).toMatchObject(want));
  it.each([
    ['propagationPolicy=X', undefined, `${invalid}propagationPolicy: Unsupported value: "X": ${policies}`],
    [
      'propagationPolicy=Orphan&orphanDependents=true',
      undefined,
      `${invalid}propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
    ],
    ['gracePeriodSeconds=x', undefined, '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['dryRun=X', undefined, `${invalid}dryRun: Unsupported value: ["X"]: supported values: "All"`],
    [
      '',
      { apiVersion: 'v1', kind: 'ConfigMap' },
      '400 no kind "ConfigMap" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
    [
      '',
      { gracePeriodSeconds: 'x' },
      '400 json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      '',
      { dryRun: 'All' },
      '400 json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string',
    ],
    ['', [], '400 json: cannot unmarshal array into Go value of type v1.DeleteOptions'],
    [
      '',
      { preconditions: 5 },
      '400 json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
    ],
  ])('%s %j is rejected', (query, body, want) => expect(remove(query, body)).toBe(want));

  it('ignoreStoreReadErrorWithClusterBreakingPotential needs its gate and excludes other options', () => {
    const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    expect(remove('', body)).toMatchObject({ ignoreStoreReadErrorWithClusterBreakingPotential: false });
    expect(remove('', body, true)).toMatchObject({ ignoreStoreReadErrorWithClusterBreakingPotential: true });
    expect(remove('', { ...body, gracePeriodSeconds: 1 }, true)).toBe(
      `${invalid}ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .gracePeriodSeconds`,
    );
  });
});

describe('resource versions', () => {
  it('are kept as submitted', () =>
    expect(parseGetOptions(new Query('resourceVersion=x'))).toEqual({ resourceVersion: 'x' }));
  it.each([
    ['', 0],
    ['0', 0],
    ['12', 12],
    ['18446744073709551615', Number.MAX_SAFE_INTEGER],
  ])('%s is revision %d', (text, want) => expect(revisionOption(text)).toBe(want));
  it.each([
    ['x', 'invalid syntax'],
    ['-1', 'invalid syntax'],
    ['18446744073709551616', 'value out of range'],
  ])('%s is not a resourceVersion', (text, problem) =>
    expect(outcome(() => revisionOption(text))).toBe(
      `400 invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${problem}`,
    ),
  );
});
