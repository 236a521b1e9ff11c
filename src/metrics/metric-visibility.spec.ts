import { previousRelease, servedRelease, type Release } from '../config/version.js';
import { single, type MetricFamily } from './metric-family.js';
import { ManualClock } from '../std/clock.js';
import { ServerMetrics } from './server-metrics.js';
import { helpOf, isHidden, visibilityFamilies } from './metric-visibility.js';

const family = (help: string, deprecatedVersion?: Release): MetricFamily => ({
  ...single('things', 'gauge', help, () => 1),
  ...(deprecatedVersion && { deprecatedVersion }),
});

test.each<[help: string, deprecated: Release | undefined, release: Release, hidden: boolean, text: string]>([
  ['[BETA] Things.', undefined, '1.37', false, '[BETA] Things.'],
  ['[BETA] Things.', '1.38', '1.37', false, '[BETA] Things.'],
  ['[BETA] Things.', '1.37', '1.37', false, '[BETA] (Deprecated from 1.37) Things.'],
  ['[STABLE] Things.', '1.35', '1.37', false, '[STABLE] (Deprecated from 1.35) Things.'],
  ['[STABLE] Things.', '1.34', '1.37', true, '[STABLE] (Deprecated from 1.34) Things.'],
  ['[ALPHA] Things.', '1.9', '1.37', true, '[ALPHA] (Deprecated from 1.9) Things.'],
  ['Things.', '1.36', '1.37', false, '(Deprecated from 1.36) Things.'],
])('metric "%s" deprecated in %s is hidden in %s: %s', (help, deprecated, release, hidden, text) => {
  const given = family(help, deprecated);
  expect([isHidden(given, release), helpOf(given, release)]).toEqual([hidden, text]);
});

test.each([
  { showsHidden: false, want: ['# HELP fresh [BETA] (Deprecated from 1.36) Fresh.'], hidden: 1 },
  {
    showsHidden: true,
    want: ['# HELP fresh [BETA] (Deprecated from 1.36) Fresh.', '# HELP old [STABLE] (Deprecated from 1.30) Old.'],
    hidden: 0,
  },
])('metrics written with showsHidden: $showsHidden', async ({ showsHidden, want, hidden }) => {
  const metrics = new ServerMetrics(new ManualClock(), { withProcess: true, showsHidden });
  metrics.add(
    { ...single('fresh', 'gauge', '[BETA] Fresh.', () => 1), deprecatedVersion: previousRelease },
    { ...single('old', 'gauge', '[STABLE] Old.', () => 1), deprecatedVersion: '1.30' },
  );
  const lines = (await metrics.text()).split('\n');
  expect(lines.filter((line) => /^# HELP (fresh|old) /.test(line))).toEqual(want);
  expect(lines).toContain(`hidden_metrics_total ${hidden}`);
});

test('metrics are counted by stability and deprecation', () => {
  const families = [
    family('[BETA] A.'),
    family('[BETA] B.'),
    family('[STABLE] C.', servedRelease),
    family('Without stability.'),
  ];
  const [registered] = visibilityFamilies(families, 0);
  expect([...registered!.samples()]).toEqual([
    { labels: { stability_level: 'BETA', deprecated_version: '' }, value: 2 },
    { labels: { stability_level: 'STABLE', deprecated_version: servedRelease }, value: 1 },
  ]);
});
