import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namingProfile } from '../config/naming-profile.js';
import { readTracingConfiguration } from './tracing-configuration.js';

const directory = mkdtempSync(join(tmpdir(), 'keelson-tracing-'));
const file = join(directory, 'tracing.yaml');
afterAll(() => rmSync(directory, { recursive: true }));

const read = (text: string) => {
  writeFileSync(file, text);
  return readTracingConfiguration(file, namingProfile('kubernetes'));
};
const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n';

test.each([
  { name: 'the defaults of OTLP', fields: '', url: 'http://localhost:4317', samplingRate: 0 },
  { name: 'a rate', fields: 'samplingRatePerMillion: 1000', url: 'http://localhost:4317', samplingRate: 0.001 },
  { name: 'host and port', fields: 'endpoint: otel.example:4317', url: 'http://otel.example:4317', samplingRate: 0 },
  { name: 'a name without port', fields: 'endpoint: otel.example', url: 'http://otel.example:443', samplingRate: 0 },
  { name: 'an IPv6 address', fields: "endpoint: '[::1]:4317'", url: 'http://[::1]:4317', samplingRate: 0 },
  { name: 'the scheme dns', fields: 'endpoint: dns:///otel:4317', url: 'http://otel:4317', samplingRate: 0 },
  { name: 'a Unix socket', fields: 'endpoint: unix:///run/otel.sock', url: 'unix:/run/otel.sock', samplingRate: 0 },
  { name: 'an abstract socket', fields: 'endpoint: unix-abstract:///otel', url: 'unix:@/otel', samplingRate: 0 },
])('reads $name', ({ fields, url, samplingRate }) => {
  expect(read(header + fields)).toEqual({ url, samplingRate });
});

test.each(['v1', 'v1beta1', 'v1alpha1'])('reads version %s', (version) => {
  expect(read(header.replace('/v1', `/${version}`)).samplingRate).toBe(0);
});

test.each([
  [
    'a negative rate',
    'samplingRatePerMillion: -1',
    'samplingRatePerMillion: Invalid value: -1: sampling rate must be positive',
  ],
  [
    'a rate above one million',
    'samplingRatePerMillion: 1000001',
    'samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million',
  ],
  ['a rate that is a text', 'samplingRatePerMillion: many', 'samplingRatePerMillion: must be a whole number'],
  [
    'a URL',
    'endpoint: http://otel:4317',
    'endpoint: Invalid value: "http://otel:4317": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md',
  ],
  [
    'a port that is no number',
    'endpoint: otel:grpc',
    'endpoint: Invalid value: "dns://otel:grpc": parse "dns://otel:grpc": invalid port ":grpc" after host',
  ],
  [
    'a DNS server',
    'endpoint: dns://8.8.8.8/otel:4317',
    'endpoint: Invalid value: "dns://8.8.8.8/otel:4317": a DNS server cannot be named; write dns:///host:port',
  ],
  [
    'an unknown field',
    'insecure: true',
    'insecure: unknown field; known are apiVersion, kind, endpoint, samplingRatePerMillion',
  ],
])('refuses %s', (_name, fields, problem) => {
  expect(() => read(header + fields)).toThrow(`--tracing-config-file: ${file}: ${problem}`);
});

test.each([
  ['another kind', 'apiVersion: v1\nkind: Pod', 'kind: must be TracingConfiguration in apiserver.config.k8s.io/v1'],
  ['an empty file', '', 'the input is empty'],
  ['a field that is given twice', `${header}endpoint: a:1\nendpoint: b:1`, 'duplicated mapping key'],
])('refuses the whole of %s', (_name, text, problem) => {
  expect(() => read(text)).toThrow(problem);
});

it('refuses a file that does not exist', () => {
  expect(() => readTracingConfiguration(join(directory, 'none'), namingProfile('kubernetes'))).toThrow(
    'no such file or directory',
  );
});
