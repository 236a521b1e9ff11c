import { parseGoPackage } from './go-source.js';

const source = `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// +genclient
// +genclient:nonNamespaced

// Price is what it costs. type Price struct {
// +k8s:prerelease-lifecycle-gen:introduced=1.2
type Price struct {
	metav1.TypeMeta \`json:",inline"\`

	// Cents.
	// +optional
	// +default=5 # why not
	Cents *int64 \`json:"cents,omitempty" protobuf:"varint,1,opt,name=cents"\` // as ever
	// +listType=map

	// +listMapKey=name
	Tags []Tag \`json:"tags" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,2,rep,name=tags"\`
}

/*
type Hidden struct {
*/
type Nothing struct{}

// +enum
type Tag string

const (
	Cheap Tag = "cheap"
	// Dear is dear.
	Dear = Tag("dear")
	Free = Tag(metav1.Nothing)
)

type Label = Tag
`;

it('parses types, tags and markers', () => {
  const { structs, named, constants, borrowed, imports } = parseGoPackage([source]);
  expect([...structs.keys()]).toEqual(['Price', 'Nothing']);
  expect(structs.get('Price')).toEqual({
    name: 'Price',
    markers: ['genclient', 'genclient:nonNamespaced', 'k8s:prerelease-lifecycle-gen:introduced=1.2'],
    fields: [
      { goName: '', type: 'metav1.TypeMeta', tags: { json: ',inline' }, markers: [] },
      {
        goName: 'Cents',
        type: '*int64',
        tags: { json: 'cents,omitempty', protobuf: 'varint,1,opt,name=cents' },
        markers: ['optional', 'default=5'],
      },
      {
        goName: 'Tags',
        type: '[]Tag',
        tags: { json: 'tags', patchStrategy: 'merge', patchMergeKey: 'name', protobuf: 'bytes,2,rep,name=tags' },
        markers: ['listMapKey=name'],
      },
    ],
  });
  expect([...named.values()]).toEqual([
    { name: 'Tag', type: 'string', isAlias: false, markers: ['enum'] },
    { name: 'Label', type: 'Tag', isAlias: true, markers: [] },
  ]);
  expect(constants.get('Tag')).toEqual(['cheap', 'dear']);
  expect(borrowed).toEqual([{ type: 'Tag', qualifier: 'metav1', name: 'Nothing' }]);
  expect(imports.get('metav1')).toBe('k8s.io/apimachinery/pkg/apis/meta/v1');
  expect(imports.get('resource')).toBe('k8s.io/apimachinery/pkg/api/resource');
});
