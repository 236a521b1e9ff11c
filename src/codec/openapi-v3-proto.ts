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

/** Field numbers of gnostic's OpenAPIv3.proto, as far as our documents use them. */
const strings = each(text);
const reference = message(() => ({ $ref: [1, text] }));
const orReference = (put: Put): Put => oneOf((value) => (isReference(value) ? [2, reference] : [1, put]));

/** // The message has fields for scalars only; other defaults are encoded as empty. */
const defaultValue = oneOf((value) => {
  if (typeof value === 'number') return [1, double];
  if (typeof value === 'boolean') return [2, boolean];
  return typeof value === 'string' ? [3, text] : undefined;
});

const externalDocs = message(() => ({ description: [1, text], url: [2, text] }));

const plainSchema: Put = message(
  () => ({
    nullable: [1, flag],
    externalDocs: [6, externalDocs],
    example: [7, any],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, flag],
    minimum: [13, double],
    exclusiveMinimum: [14, flag],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, flag],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, strings],
    enum: [24, each(any)],
    type: [25, text],
    allOf: [26, each(schema)],
    oneOf: [27, each(schema)],
    anyOf: [28, each(schema)],
    not: [29, plainSchema],
    items: [30, only(schema)],
    properties: [31, map(schema)],
    additionalProperties: [32, oneOf((value) => (typeof value === 'boolean' ? [2, boolean] : [1, schema]))],
    default: [33, defaultValue],
    description: [34, text],
    format: [35, text],
  }),
  36,
);
const schema = orReference(plainSchema);

const mediaTypes = map(message(() => ({ schema: [1, schema] }), 5));
const parameter = message(
  () => ({ name: [1, text], in: [2, text], description: [3, text], required: [4, flag], schema: [10, schema] }),
  14,
);
const requestBody = message(() => ({ description: [1, text], content: [2, mediaTypes], required: [3, flag] }), 4);
const response = message(() => ({ description: [1, text], content: [3, mediaTypes] }), 5);

const operation = message(
  () => ({
    tags: [1, strings],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, each(orReference(parameter))],
    requestBody: [7, orReference(requestBody)],
    responses: [8, map(orReference(response), 2)],
    deprecated: [10, flag],
  }),
  13,
);

const pathItem = message(
  () => ({
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, each(orReference(parameter))],
  }),
  14,
);

const securityScheme = message(() => ({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] }), 9);

const frame = message(
  () => ({
    openapi: [1, text],
    info: [2, message(() => ({ title: [1, text], description: [2, text], version: [6, text] }))],
  }),
  9,
);
const otherComponents = message(() => ({ securitySchemes: [7, map(orReference(securityScheme))] }), 10);

interface OpenApi {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/** In steps: the document may be large. */
export function* openApiV3Message({ paths, components, ...rest }: OpenApi): Generator<void, Buffer> {
  const { schemas = {}, ...others } = components;
  return Buffer.concat([
    encodeMessage(frame, rest),
    ...field(4, yield* encodePairs(pathItem, 1, paths)),
    ...field(5, [...field(1, yield* encodePairs(schema, 1, schemas)), encodeMessage(otherComponents, others)]),
  ]);
}
