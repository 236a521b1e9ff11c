import { parseProto } from './proto.js';

it('parses messages, with full names of types', () => {
  const messages = parseProto(`syntax = "proto2";
package k8s.io.api.shop.v1;

// Price is what it costs. { = 9;
message Price {
  // +optional
  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> parts = 3;

  optional int64 cents = 1;

  repeated Tag tags = 2;
}

message Tag {
}
`);
  expect(Object.fromEntries(messages)).toEqual({
    'k8s.io.api.shop.v1.Price': [
      { number: 1, name: 'cents', type: 'int64', shape: 'one' },
      { number: 2, name: 'tags', type: 'k8s.io.api.shop.v1.Tag', shape: 'list' },
      { number: 3, name: 'parts', type: 'k8s.io.apimachinery.pkg.api.resource.Quantity', shape: 'map' },
    ],
    'k8s.io.api.shop.v1.Tag': [],
  });
});

it('refuses unknown syntax', () => {
  expect(() => parseProto('package a.b;\nmessage C {\n  oneof x {\n}\n')).toThrow('a.b.C: cannot read "oneof x {"');
});
