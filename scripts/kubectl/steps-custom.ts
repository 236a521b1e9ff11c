import type { Step } from './step.js';

const definition = (group: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gdt], categories: [gadgetry]}
  versions:
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    selectableFields: [{jsonPath: .spec.colour}]
    additionalPrinterColumns:
    - {name: Colour, type: string, jsonPath: .spec.colour}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: What is sold in the shop.
        required: [spec]
        properties:
          spec:
            type: object
            description: How it is to be.
            required: [colour]
            properties:
              colour: {type: string, description: How it looks., enum: [red, green]}
              size: {type: integer, default: 3, minimum: 1}
              replicas: {type: integer}
              port: {x-kubernetes-int-or-string: true}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
`;

/** Custom kinds from their definition to its deletion, in an existing namespace. */
export function customKindSteps(namespace: string): readonly Step[] {
  const group = `custom.${namespace}.example.com`;
  const resource = `gadgets.${group}`;
  const here = ['-n', namespace];
  const gadget = (name: string, spec: string, version = 'v1') =>
    `apiVersion: ${group}/${version}\nkind: Gadget\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
  const printed = (name: string, what: string) => new RegExp(`^gadget\\.${group}/${name} ${what}$`, 'm');
  return [
    {
      name: 'apply a definition',
      args: ['apply', '-f', '-'],
      stdin: definition(group),
      stdout: /gadgets\.\S+ created$/m,
    },
    {
      name: 'wait until the kind is served',
      args: ['wait', '--for=condition=Established', `crd/${resource}`, '--timeout=20s'],
      stdout: /condition met$/m,
    },
    {
      name: 'api-resources of a custom group',
      args: ['api-resources', `--api-group=${group}`],
      stdout: new RegExp(`^gadgets +gdt +${group}/v1 +true +Gadget$`, 'm'),
    },
    {
      name: 'api-versions has both versions',
      args: ['api-versions'],
      stdout: new RegExp(`^${group}/v1\\n${group}/v1beta1$`, 'm'),
    },
    {
      name: 'explain a custom kind',
      args: ['explain', resource],
      stdout: /^KIND: +Gadget$[^]*^VERSION: +\S*v1$[^]*What is sold in the shop\.[^]*^ +spec\s+<Object> -required-$/m,
    },
    {
      name: 'explain a custom kind, all of it',
      args: ['explain', resource, '--recursive'],
      stdout:
        /^ +metadata\s+<ObjectMeta>[^]*^ +name\s+<string>[^]*^ +spec\s+<Object>[^]*^ +parts\s+<\[\]Object>\s+count\s+<integer>/m,
    },
    { name: 'explain a custom field', args: ['explain', `${resource}.spec.colour`], stdout: /How it looks\./ },
    {
      name: 'explain an unknown custom field',
      args: ['explain', `${resource}.spec.weight`],
      code: 1,
      stderr: /field "weight" does not exist/,
    },
    {
      name: 'explain a custom kind without a schema',
      args: ['explain', 'gadgets', `--api-version=${group}/v1beta1`],
      stdout: /^VERSION: +\S*v1beta1$/m,
    },
    {
      name: 'create with an unknown field',
      args: ['create', '-f', '-', ...here],
      stdin: gadget('one', '{colour: red, weight: 3}'),
      code: 1,
      stderr: /unknown field "spec\.weight"/,
    },
    {
      name: 'create with an invalid value',
      args: ['create', '-f', '-', ...here],
      stdin: gadget('one', '{colour: pink}'),
      code: 1,
      stderr: /spec\.colour: Unsupported value: "pink"/,
    },
    {
      name: 'create a custom object',
      args: ['create', '-f', '-', ...here],
      stdin: gadget('one', '{colour: red, port: http}'),
      stdout: printed('one', 'created'),
    },
    {
      name: 'get custom columns of a definition',
      args: ['get', resource, ...here],
      stdout: /^NAME +COLOUR +READY +AGE\none +red +\d+s$/m,
    },
    {
      name: 'get -o wide shows columns with priority',
      args: ['get', 'gdt', '-o', 'wide', ...here],
      stdout: /^NAME +COLOUR +READY +SIZE +AGE\none +red +3 +\d+s$/m,
    },
    { name: 'get a category', args: ['get', 'gadgetry', '-o', 'name', ...here], stdout: /^gadget\.\S+\/one$/m },
    {
      name: 'get another version, which is deprecated',
      args: ['get', `gadgets.v1beta1.${group}`, ...here],
      stdout: /^NAME +AGE\none +\d+s$/m,
      stderr: /Warning: .*v1beta1 Gadget is deprecated; use .*\/v1 Gadget/,
    },
    { name: 'watch custom columns', args: ['get', resource, 'one', '-w', ...here], until: /^one +red +\d+s$/m },
    {
      name: 'patch a custom object',
      args: ['patch', resource, 'one', '--type=merge', '-p', '{"spec":{"size":4}}', ...here],
      stdout: printed('one', 'patched'),
    },
    {
      name: 'patch a custom object strategically',
      args: ['patch', resource, 'one', '-p', '{"spec":{"size":5}}', ...here],
      code: 1,
      stderr: /UnsupportedMediaType|not supported|unsupported/i,
    },
    {
      name: 'patch its status alone',
      args: [
        ...['patch', resource, 'one', '--subresource=status', '--type=merge', '-p'],
        ...['{"status":{"replicas":1,"conditions":[{"type":"Ready","status":"True"}]},"spec":{"size":9}}', ...here],
      ],
      stdout: printed('one', 'patched'),
    },
    {
      name: 'get shows the status in its column',
      args: ['get', resource, '-o', 'wide', '--no-headers', ...here],
      stdout: /^one +red +True +4 +\d+s$/m,
    },
    {
      name: 'wait for its condition',
      args: ['wait', '--for=condition=Ready', resource.replace('gadgets', 'gadget'), '--all', '--timeout=10s', ...here],
      stdout: /condition met$/m,
    },
    {
      name: 'scale a custom object',
      args: ['scale', resource, 'one', '--replicas=2', ...here],
      stdout: printed('one', 'scaled'),
    },
    {
      name: 'get its scale',
      args: ['get', resource, 'one', '--subresource=scale', '-o', 'jsonpath={.kind} {.spec.replicas}', ...here],
      stdout: /^Scale 2$/,
    },
    {
      name: 'apply a custom object',
      args: ['apply', '-f', '-', ...here],
      stdin: gadget('two', '{colour: green, parts: [{name: a}, {name: b, count: 2}]}'),
      stdout: printed('two', 'created'),
    },
    {
      name: 'apply it again',
      args: ['apply', '-f', '-', ...here],
      stdin: gadget('two', '{colour: green, parts: [{name: a}, {name: b, count: 2}]}'),
      stdout: printed('two', 'unchanged'),
    },
    {
      name: 'diff of a custom object',
      args: ['diff', '-f', '-', ...here],
      stdin: gadget('two', '{colour: red}'),
      code: 1,
      stdout: /^\+ +colour: red$/m,
    },
    {
      name: 'apply parts of one to the server',
      args: ['apply', '--server-side', '--field-manager=first', '-f', '-', ...here],
      stdin: gadget('three', '{colour: green, parts: [{name: a, count: 1}]}'),
      stdout: printed('three', 'serverside-applied'),
    },
    {
      name: 'apply other items by another manager',
      args: ['apply', '--server-side', '--field-manager=second', '-f', '-', ...here],
      stdin: gadget('three', '{colour: green, parts: [{name: b}]}'),
      stdout: printed('three', 'serverside-applied'),
    },
    {
      name: 'get shows the items of both managers',
      args: ['get', resource, 'three', '-o', 'jsonpath={.spec.parts[*].name}', ...here],
      stdout: /^a b$/,
    },
    {
      name: "apply what is another's",
      args: ['apply', '--server-side', '--field-manager=second', '-f', '-', ...here],
      stdin: gadget('three', '{colour: green, parts: [{name: a, count: 2}]}'),
      code: 1,
      stderr: /conflict with "first"[^]*\.spec\.parts\[name="a"\]\.count/,
    },
    {
      name: 'get --field-selector with a selectable field',
      args: ['get', resource, '--field-selector=spec.colour=green', '-o', 'name', ...here],
      stdout: /^gadget\.\S+\/three\ngadget\.\S+\/two\n$/,
    },
    { name: 'describe a custom object', args: ['describe', resource, 'one', ...here], stdout: /^ +Colour: +red$/m },
    { name: 'label custom objects', args: ['label', resource, '--all', 'tier=back', ...here], stdout: /two labeled$/m },
    {
      name: 'delete custom objects',
      args: ['delete', resource, '-l', 'tier=back', ...here],
      stdout: /"one" deleted[^]*"three" deleted[^]*"two" deleted/,
    },
    { name: 'delete the definition', args: ['delete', 'crd', resource, '--timeout=20s'], stdout: /deleted/ },
    {
      name: 'get of a deleted kind',
      args: ['get', resource, ...here],
      code: 1,
      stderr: /the server doesn't have a resource type "gadgets"|could not find the requested resource/,
    },
  ];
}
