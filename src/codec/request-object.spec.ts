import { atOnce } from '../std/steps.js';
import { json, yaml } from './encodings.js';
import { cannotBeHandled, requestObjectInSteps, strictDecodingProblem } from './request-object.js';

const struct =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const read = (text: string, encoding = json): string => {
  try {
    const { apiVersion, kind, object } = atOnce(requestObjectInSteps(Buffer.from(text), encoding, 'ConfigMap'));
    return `${apiVersion}|${kind}|${Object.keys(object).join(',')}`;
  } catch (error) {
    expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
    return (error as Error).message.replace('the object provided is unrecognized (must be of type ConfigMap): ', '');
  }
};

describe('requestObjectInSteps', () => {
  it.each([
    ['{"apiVersion":"v1","kind":"ConfigMap","data":{}}', 'v1|ConfigMap|apiVersion,kind,data'],
    ['{}', '||'],
    ['null', '||'],
    ['{"kind":null}', '||kind'],
    ['', "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"],
    ['{', "couldn't get version/kind; json parse error: unexpected end of JSON input ({)"],
    [
      'hello',
      "couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value (68656c6c6f)",
    ],
    [
      '[]',
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${struct} (5b5d)`,
    ],
    [
      '"x"',
      `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${struct} (227822)`,
    ],
    [
      '5',
      `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type ${struct} (35)`,
    ],
    [
      '{"metadata":{"name":"t1"}}{"metadata":{"name":"t2"}}',
      'couldn\'t get version/kind; json parse error: invalid character \'{\' after top-level value ({"metadata":{"name":"t1"}}{"me ...)',
    ],
    [
      '{"apiVersion":"v1","kind":5,"metadata":{}}',
      'couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"apiVersion":"v1","kind":5,"m ...)',
    ],
    ['{"apiVersion":"a/b/c","kind":"X"}', 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)'],
  ])('decodes %s', (text, want) => expect(read(text)).toBe(want));

  it.each([
    ['', '||'],
    ['kind: ConfigMap', '|ConfigMap|kind'],
    ['a: b: c', 'yaml: mapping values are not allowed in this context (613a20623a2063)'],
    [
      '- a',
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${struct} (2d2061)`,
    ],
  ])('decodes %j as YAML', (text, want) => expect(read(text, yaml)).toBe(want));
});

it('the message of strict decoding lists all findings', () => {
  const problem = strictDecodingProblem(['unknown field "zz"', 'duplicate field "a"']);
  expect(cannotBeHandled({ kind: 'ConfigMap', version: 'v1' }, 'ConfigMap', problem).message).toBe(
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "zz", duplicate field "a"',
  );
});
