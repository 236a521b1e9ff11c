import {
  any,
  boolean,
  double,
  each,
  encodeMessage,
  encodePairs,
  field,
  flag,
  integer,
  isReference,
  map,
  message,
  oneOf,
  only,
  text,
  type Put,
} from './openapi-message.js';

/** Field numbers of gnostic's OpenAPIv2.proto, as far as our documents use them. */
const strings = each(text);

const externalDocs = message(() => ({ description: [1, text], url: [2, text] }));

const schema: Put = message(
  () => ({
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, flag],
    minimum: [9, double],
    exclusiveMinimum: [10, flag],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, flag],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, strings],
    enum: [20, each(any)],
    additionalProperties: [21, oneOf((value) => (typeof value === 'boolean' ? [2, boolean] : [1, schema]))],
    type: [22, only(text)],
    items: [23, only(schema)],
    allOf: [24, each(schema)],
    properties: [25, map(schema)],
    externalDocs: [29, externalDocs],
    example: [30, any],
  }),
  31,
);

const reference = message(() => ({ $ref: [1, text], description: [2, text] }));

const bodyParameter = message(
  () => ({ description: [1, text], name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] }),
  6,
);
const queryParameter = message(
  () => ({
    ...{ required: [1, flag], in: [2, text], description: [3, text], name: [4, text] },
    ...{ type: [6, text], format: [7, text], uniqueItems: [20, flag] },
  }),
  23,
);
const pathParameter = message(
  () => ({
    ...{ required: [1, flag], in: [2, text], description: [3, text], name: [4, text] },
    ...{ type: [5, text], format: [6, text], uniqueItems: [19, flag] },
  }),
  22,
);
const otherParameter = oneOf((value) => (placeOf(value) === 'path' ? [4, pathParameter] : [3, queryParameter]));
const parameter = oneOf((value) => (placeOf(value) === 'body' ? [1, bodyParameter] : [2, otherParameter]));
const parameters = each(oneOf((value) => (isReference(value) ? [2, reference] : [1, parameter])));

const response = message(() => ({ description: [1, text], schema: [2, only(schema)] }), 5);
const responses = map(only(response));

const operation = message(
  () => ({
    tags: [1, strings],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, strings],
    consumes: [7, strings],
    parameters: [8, parameters],
    responses: [9, responses],
    schemes: [10, strings],
    deprecated: [11, flag],
  }),
  13,
);

const pathItem = message(
  () => ({
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, parameters],
  }),
  10,
);

const apiKey = message(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }));
const stringArray: Put = oneOf(() => [1, strings]);

const frame = message(
  () => ({
    swagger: [1, text],
    info: [2, message(() => ({ title: [1, text], version: [2, text], description: [3, text] }))],
    parameters: [10, map(parameter)],
    security: [12, each(map(stringArray))],
    securityDefinitions: [13, map(oneOf(() => [2, apiKey]))],
  }),
  16,
);

interface Swagger {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly definitions: Readonly<Record<string, unknown>>;
}

/** In steps: the document is large. */
export function* openApiV2Message({ paths, definitions, ...rest }: Swagger): Generator<void, Buffer> {
  return Buffer.concat([
    encodeMessage(frame, rest),
    ...field(8, yield* encodePairs(pathItem, 2, paths)),
    ...field(9, yield* encodePairs(schema, 1, definitions)),
  ]);
}

function placeOf(value: unknown): unknown {
  return (value as { readonly in?: unknown }).in;
}
