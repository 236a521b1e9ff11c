import fc from 'fast-check';
import fastJsonPatch from 'fast-json-patch';
import type { JsonValue } from '../../src/machinery/kube-object.js';
import { jsonPatch } from '../../src/patch/json-patch.js';

/**
 * Patches that another library creates have the same result; patches that it refuses are refused, except those that
 * kube-apiserver accepts.
 */
const { applyPatch, compare } = fastJsonPatch;
const key = fc.constantFrom('a', 'b', 'c/d', 'e~f', '');
const json = fc.letrec<{ value: JsonValue; object: Record<string, JsonValue> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

it('applies patches that fast-json-patch creates from two documents', () => {
  fc.assert(
    fc.property(json.object, json.object, (from, to) => {
      expect(jsonPatch(from, compare(from, to), 10_000)).toEqual(to);
    }),
    { numRuns: 500 },
  );
});

// The other library accepts an empty string as an index.
const step = fc.constantFrom('a', 'b', 'c/d', 'e~f', '0', '1', '-');
const path = fc.array(step, { minLength: 1, maxLength: 3 });
const pointer = path.map((parts) =>
  parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
);
const operation = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'test'), path: pointer, value: json.value }),
  fc.record({ op: fc.constant('remove'), path: pointer }),
);

it('random patches have the result of fast-json-patch', () => {
  fc.assert(
    fc.property(json.object, operation, (document, patch) => {
      let theirs: unknown;
      try {
        theirs = applyPatch(structuredClone(document), [patch as never], true, false).newDocument;
      } catch {
        return;
      }
      expect(jsonPatch(document, [patch], 10_000)).toEqual(theirs);
    }),
    { numRuns: 1000 },
  );
});
