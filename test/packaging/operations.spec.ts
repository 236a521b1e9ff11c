import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import { flagsByName } from '../../src/config/flags/all-flags.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { startTestServer } from '../harness/servers.js';

const page = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8');
const alerts = /^## Alerts\n([\s\S]*?)^## /m.exec(page)![1]!;
const expressions = [...alerts.matchAll(/`([^`]+)`/g)]
  .map((match) => match[1]!)
  .filter((text) => / [=<>]{1,2} /.test(text));

interface Used {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** The metrics of a PromQL expression with the labels that it selects by, without the suffixes of histograms. */
function metricsIn(expression: string): Used[] {
  const selected = expression.replace(/\bby \([^)]*\)/g, '');
  return [...selected.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)\b(?:\{([^}]*)\})?(?!\()/g)]
    .filter(([, name]) => name !== 'histogram_quantile')
    .map(([, name, labels = '']) => ({
      metric: name!.replace(/_bucket$/, ''),
      labels: [...labels.matchAll(/(\w+)(?==|!=)/g)].map((match) => match[1]!),
    }));
}

const typesIn = (text: string) => new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]!));

test('every metric of an alert is served, with the labels that it selects by', async () => {
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  try {
    await server.client({ token: 'unknown' }).get('/api');
    await server.admin.get('/readyz');
    const { text } = await server.admin.get('/metrics');
    const used = expressions.flatMap(metricsIn).filter(({ metric }) => !/^etcd_(server|mvcc|disk)_/.test(metric));
    expect(used.length).toBeGreaterThan(20);
    const types = typesIn(text);
    expect(used.filter(({ metric }) => !types.has(metric))).toEqual([]);
    const withoutLabel = used.filter(({ metric, labels }) => {
      const sample = new RegExp(`^${metric}(?:_bucket|_count)?\\{(.*)\\}`, 'm').exec(text)?.[1];
      return sample !== undefined && labels.some((label) => !new RegExp(`(^|,)${label}="`).test(sample));
    });
    expect(withoutLabel).toEqual([]);
  } finally {
    await server.stop();
  }
});

describeWithEtcd('the metrics of etcd in alerts', () => {
  it('are served by etcd', async () => {
    const etcd = await EtcdCluster.start();
    try {
      const types = typesIn(await (await fetch(`${etcd.members[0]!.address.client}/metrics`)).text());
      const used = expressions.flatMap(metricsIn).filter(({ metric }) => /^etcd_(server|mvcc|disk)_/.test(metric));
      expect(used.length).toBeGreaterThanOrEqual(4);
      expect(used.filter(({ metric }) => !types.has(metric))).toEqual([]);
    } finally {
      await etcd.stop();
    }
  });
});

test('every quoted message of the log is in the sources', () => {
  const messages = [...page.matchAll(/"msg":"([^"]+)"/g)].map((match) => match[1]!);
  expect(messages.length).toBeGreaterThanOrEqual(8);
  const folder = join(packageRoot, 'src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  // Literals in quotes, and templates, whose expressions match any text.
  const literals = [...sources.matchAll(/'([^'\n]{10,})'|`([^`\n]{10,})`/g)].map((match) => match[1] ?? match[2]!);
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const patternOf = (literal: string) =>
    new RegExp(
      `^${literal
        .split(/\$\{[^}]*\}/)
        .map(escaped)
        .join('.*')}$`,
    );
  const isLogged = (message: string) =>
    literals.some((literal) => literal === message || (literal.includes('${') && patternOf(literal).test(message)));
  expect(messages.filter((message) => !isLogged(message))).toEqual([]);
});

test('every flag in the text is a flag of the server, or of a tool that is named beside it', () => {
  const prose = page.replace(/^```[\s\S]*?^```/gm, '');
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
  const ofTools = /^(etcdctl|etcdutl|kubectl|openssl|helm|journalctl) /;
  const named = spans.filter((text) => !ofTools.test(text)).flatMap((text) => text.match(/--[a-z][a-z-]+/g) ?? []);
  const others = ['--max-old-space-size', '--max-semi-space-size', '--quota-backend-bytes'];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((flag) => !flagsByName.has(flag.slice(2)) && !others.includes(flag))).toEqual([]);
});

test('every failure has a symptom, a check and a remedy, and is linked from an alert or another page', () => {
  const failures = page
    .split(/^## Failures$/m)[1]!
    .split(/^### /m)
    .slice(1);
  expect(failures).toHaveLength(12);
  for (const failure of failures)
    expect(failure.match(/\*\*(Symptom|Check|Remedy)\.\*\*/g)).toEqual(['**Symptom.**', '**Check.**', '**Remedy.**']);
  const anchors = new Set(
    [...page.matchAll(/^#{2,3} (.+)$/gm)].map((match) => match[1]!.toLowerCase().replace(/ /g, '-')),
  );
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]!);
  expect(links.filter((link) => !anchors.has(link))).toEqual([]);
});
