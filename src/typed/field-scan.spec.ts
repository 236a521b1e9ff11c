import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { FieldScan } from './field-scan.js';

const pod = new Catalog(namingProfile('kubernetes')).kind('', 'v1', 'Pod')!;
const scanOf = (...paths: string[]) =>
  FieldScan.of(
    pod,
    paths.map((path) => path.split('.')),
  );
const scan = scanOf('metadata.name', 'metadata.labels', 'spec.nodeName', 'status.podIPs')!;

/** The texts of the wanted values, or undefined if the bytes are refused. */
const found = (bytes: Buffer): (string | undefined)[] | undefined =>
  scan.scan(bytes)
    ? [0, 1, 2, 3].map((number) =>
        scan.start(number) < 0 ? undefined : bytes.toString('utf8', scan.start(number), scan.end(number)),
      )
    : undefined;
const meta = '"metadata":{"name":"p"}';

test('notes where the wanted values are', () => {
  const status = '"status":{"podIPs":[{"ip":"10.0.0.1"}],"startTime":"2026-11-24T00:00:00Z"}';
  const spec = '"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}],"nodeName":"n-1"}';
  const json = `{"kind":"Pod","metadata":{"labels":{"a":"é","b":""},"name":"p"},${spec},${status}}`;
  expect(found(Buffer.from(json))).toEqual(['"p"', '{"a":"é","b":""}', '"n-1"', '[{"ip":"10.0.0.1"}]']);
  expect(found(Buffer.from('{}'))).toEqual([undefined, undefined, undefined, undefined]);
});

test.each<[string, string]>([
  ['escapes', `{${meta},"spec":{"hostname":"\\"\\\\\\/\\n","nodeName":"a\\tb"}}`],
  ['bytes that are not UTF-8', `{${meta},"spec":{"hostname":"\xff\xc3"}}`],
  ['null where Go writes null', `{${meta},"spec":{"containers":null}}`],
  ['a negative number', `{${meta},"spec":{"priority":-2147483648}}`],
  ['free JSON', '{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{".":{},"k:{\\"b\\":1}":[1,-0,true,null,"x"]}}}]}}'],
  ['an unknown field of a map', `{"metadata":{"labels":{"constructor":"x","toString":"y"}}}`],
])('takes %s: %s', (_, json) => {
  expect(found(Buffer.from(json, 'latin1'))).toBeDefined();
});

const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);
test.each<[string, string]>([
  ['nothing', ''],
  ['a value that ends early', `{${meta}`],
  ['a string that ends early', `{"metadata":{"name":"p`],
  ['a key that ends early', `{"met`],
  ['an escape that ends early', `{"metadata":{"name":"p\\`],
  ['a text behind the object', `{${meta}}x`],
  ['a newline behind the object', `{${meta}}\n`],
  ['spaces', `{${meta}, "spec":{}}`],
  ['an unknown field', `{${meta},"spec":{"nodename":"n"}}`],
  ['a key with an escape', `{${meta},"spec":{"node\\u004eame":"n"}}`],
  ['a value with \\u', `{"metadata":{"name":"\\u0070"}}`],
  ['an unknown escape', `{"metadata":{"name":"\\p"}}`],
  ['a control character', `{"metadata":{"name":"p\n"}}`],
  ['a repeated wanted field', `{"metadata":{"name":"p","name":"q"}}`],
  ['a repeated field on the way', `{${meta},"spec":{},"spec":{"nodeName":"n"}}`],
  ['null in place of a wanted value', `{"metadata":{"name":null}}`],
  ['null in a list', `{${meta},"status":{"podIPs":[null]}}`],
  ['null in a map', `{"metadata":{"labels":{"a":null}}}`],
  ['a number in place of a string', `{"metadata":{"name":1}}`],
  ['a string in place of a number', `{${meta},"spec":{"priority":"1"}}`],
  ['a number beyond 32 bits', `{${meta},"spec":{"priority":2147483648}}`],
  ['a leading zero', `{${meta},"spec":{"priority":01}}`],
  ['a minus alone', `{${meta},"spec":{"priority":-}}`],
  ['an exponent', `{${meta},"spec":{"priority":1e3}}`],
  ['a fraction', `{${meta},"spec":{"priority":1.0}}`],
  ['an integer that a double rounds', '{"metadata":{"managedFields":[{"fieldsV1":{"a":9007199254740993}}]}}'],
  ['the key __proto__ in a map', '{"metadata":{"labels":{"__proto__":"x"}}}'],
  ['the key __proto__ in free JSON', '{"metadata":{"managedFields":[{"fieldsV1":{"__proto__":{}}}]}}'],
  ['a word that ends early', `{${meta},"spec":{"hostNetwork":tru}}`],
  ['a time with a fraction', '{"metadata":{"creationTimestamp":"2026-11-24T00:00:00.5Z"}}'],
  ['a day that does not exist', '{"metadata":{"creationTimestamp":"2026-02-31T00:00:00Z"}}'],
  ['an unusual amount', `{${meta},"spec":{"overhead":{"cpu":"0.5"}}}`],
  ['a comma before the end', `{${meta},}`],
  ['a list with a comma before the end', `{${meta},"status":{"podIPs":[{},]}}`],
  ['a missing comma', `{${meta}"spec":{}}`],
  ['an array', '[]'],
  ['deep free JSON', `{"metadata":{"managedFields":[{"fieldsV1":${deep('[', ']', 100_000)}}]}}`],
  ['deep objects', `{"metadata":{"managedFields":[{"fieldsV1":${deep('{"a":', '}', 100_000)}}]}}`],
])('refuses %s', (_, json) => {
  expect(found(Buffer.from(json))).toBeUndefined();
});

test('is not made for paths that lead to no field, or through a list, or to each other', () => {
  expect(scanOf('metadata.nam')).toBeUndefined();
  expect(scanOf('spec.containers.name')).toBeUndefined();
  expect(scanOf('spec.nodeName', 'spec')).toBeUndefined();
  expect(scanOf('spec', 'spec')).toBeUndefined();
});
