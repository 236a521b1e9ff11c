import { registryOf } from '../../test/harness/shell.js';
import { stopServing } from '../../test/harness/stop-serving.js';
import { namingProfile } from '../config/naming-profile.js';
import { RequestState } from '../answers/request-state.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { ApiLifecycle } from '../registry/apis/api-lifecycle.js';
import { defineResource } from '../registry/definition/resource-definition.js';
import { defaultTable } from '../registry/definition/table.js';
import { systemClock } from '../std/clock.js';
import { DeprecatedRequests } from './deprecated-requests.js';

const budgets = defineResource({
  ...{ group: 'policy', version: 'v1beta1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets' },
  ...{ namespaced: true, strategy: { validateName: () => [] }, table: defaultTable },
});
const path = '/apis/policy/v1beta1/namespaces/a/poddisruptionbudgets/b';

function ask(lifecycle: ApiLifecycle | undefined, urls: readonly string[]) {
  const registry = registryOf([budgets]);
  const found = registry.find('policy', 'v1beta1', 'poddisruptionbudgets')!;
  const served = lifecycle ? { ...found, lifecycle } : found;
  const deprecated = new DeprecatedRequests(namingProfile('kubernetes'), registry);
  const states = urls.map((url) => new RequestState(parseRequestInfo('GET', url), 'id', systemClock));
  for (const state of states) deprecated.note(state, served);
  const { warnings, auditAnnotations } = states[0]!;
  const samples = () => [...deprecated.families()[0]!.samples()];
  const series = samples();
  return { registry, samples, answer: { warnings, annotations: Object.fromEntries(auditAnnotations), series } };
}

const labels = { group: 'policy', version: 'v1beta1', resource: 'poddisruptionbudgets', subresource: '' };

test.each<{ name: string; given: ApiLifecycle | undefined; want: ReturnType<typeof ask>['answer'] }>([
  { name: 'no lifecycle', given: undefined, want: { warnings: [], annotations: {}, series: [] } },
  { name: 'an introduced API', given: { introduced: '1.5' }, want: { warnings: [], annotations: {}, series: [] } },
  {
    name: 'an API deprecated in a later release',
    given: { deprecated: '99.0', removed: '99.3' },
    want: { warnings: [], annotations: {}, series: [] },
  },
  {
    name: 'a deprecated API',
    given: { deprecated: '1.21' },
    want: {
      warnings: ['policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+'],
      annotations: { 'k8s.io/deprecated': 'true' },
      series: [{ labels: { ...labels, removed_release: '' }, value: 1 }],
    },
  },
  {
    name: 'a deprecated API with a removal release and a replacement',
    given: { deprecated: '1.21', removed: '99.0', replacement: { ...budgets, version: 'v1' } },
    want: {
      warnings: [
        'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v99.0+; use policy/v1 PodDisruptionBudget',
      ],
      annotations: { 'k8s.io/deprecated': 'true', 'k8s.io/removed-release': '99.0' },
      series: [{ labels: { ...labels, removed_release: '99.0' }, value: 1 }],
    },
  },
])('warnings, audit annotations and metrics of $name', ({ given, want }) => {
  expect(ask(given, [path]).answer).toEqual(want);
});

test('apiserver_requested_deprecated_apis has one series for each subresource, with value 1', () => {
  const { series } = ask({ deprecated: '1.21' }, [path, `${path}2`, `${path}/status`, `${path}/status`]).answer;
  expect(series.map((sample) => [sample.labels['subresource'], sample.value])).toEqual([
    ['', 1],
    ['status', 1],
  ]);
});

test('a deprecated API that is no longer served has no series', () => {
  const { registry, samples } = ask({ deprecated: '1.21' }, [path]);
  expect(samples()).toHaveLength(1);
  stopServing(registry, 'policy', 'v1beta1');
  expect(samples()).toEqual([]);
});
