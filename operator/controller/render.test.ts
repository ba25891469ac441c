import { describe, expect, test } from '@jest/globals';
import { ApiObject } from 'cdk8s';
import * as plus from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import fc from 'fast-check';
import type { Kind, Resource } from '../../crds/kind.ts';
import { Toy } from '../../test/toy-kind.ts';
import { desiredHashAnnotation } from './ownership.ts';
import { renderChildren, RenderError, type RenderFault } from './render.ts';
import { Renderer } from './renderer.ts';

const toy = (spec: object = {}, metadata: object = {}): Resource => ({
  apiVersion: 'engine.test.example.com/v1',
  kind: 'Toy',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1', generation: 1, ...metadata },
  spec: { image: 'nginx:1', hasService: true, ...spec },
});

type Children = (scope: Construct, resource: Resource) => void;

/** The toy with other children. */
const kindWith = (children: Children): Kind => ({ ...Toy, children });

const service = (scope: Construct, metadata: object, rest: object = {}, id = 'service') =>
  new ApiObject(scope, id, { apiVersion: 'v1', kind: 'Service', metadata, spec: {}, ...rest });

function faultOf(children: Children): { fault: RenderFault; message: string } {
  try {
    renderChildren(kindWith(children), toy());
  } catch (error) {
    if (error instanceof RenderError) return { fault: error.fault, message: error.message };
    throw error;
  }
  throw new Error('it was rendered');
}

describe('what is rendered', () => {
  test('a child has the name and fields that the kind gave it, and from the engine namespace, label, owner and hash', () => {
    const [, child] = renderChildren(Toy, toy());
    const { annotations, ...metadata } = child!.metadata;
    expect(metadata).toEqual({
      name: 'web',
      namespace: 'shop',
      labels: { 'app.kubernetes.io/managed-by': 'reprise' },
      ownerReferences: [
        {
          apiVersion: 'engine.test.example.com/v1',
          kind: 'Toy',
          name: 'web',
          uid: 'u1',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(Object.keys(annotations ?? {})).toEqual([desiredHashAnnotation]);
    expect(annotations?.[desiredHashAnnotation]).toMatch(/^[0-9a-f]{16}$/);
    expect(child).toMatchObject({
      apiVersion: 'v1',
      kind: 'Service',
      spec: { selector: { 'app.kubernetes.io/instance': 'web' }, ports: [{ port: 80, targetPort: 80 }] },
    });
  });

  test('labels and annotations of the kind stay beside those of the engine', () => {
    const kind = kindWith((scope) => service(scope, { name: 'a', labels: { x: '1' }, annotations: { y: '2' } }));
    expect(renderChildren(kind, toy())[0]?.metadata).toMatchObject({
      labels: { x: '1', 'app.kubernetes.io/managed-by': 'reprise' },
      annotations: { y: '2' },
    });
  });

  test('the same resource gives the same bytes, whatever the order of its keys', () => {
    const bytes = (resource: Resource) => JSON.stringify(renderChildren(Toy, resource));
    const names = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.stringMatching(/^[a-z]{0,5}$/), { maxKeys: 4 });
    const shuffled = (value: Record<string, string>) => Object.fromEntries(Object.entries(value).reverse());
    fc.assert(
      fc.property(names, fc.boolean(), (labels, hasService) => {
        expect(bytes(toy({ labels: shuffled(labels), hasService }))).toBe(bytes(toy({ hasService, labels })));
      }),
      { numRuns: 30 },
    );
  });

  test('the hash changes with the manifest and with the owner, not with what has no part in them', () => {
    const hash = (resource: Resource) =>
      renderChildren(Toy, resource)[0]?.metadata.annotations?.[desiredHashAnnotation];
    const first = hash(toy());
    expect(hash(toy({}, { generation: 7, annotations: { note: 'x' } }))).toBe(first);
    expect(hash({ ...toy(), status: { anything: 1 } })).toBe(first);
    expect(hash(toy({ image: 'nginx:2' }))).not.toBe(first);
    expect(hash(toy({}, { uid: 'u2' }))).not.toBe(first);
  });

  test('cdk8s told not to sort changes nothing: the engine sorts by itself', () => {
    const sorted = JSON.stringify(renderChildren(Toy, toy()));
    process.env['CDK8S_DISABLE_SORT'] = '1';
    try {
      expect(JSON.stringify(renderChildren(Toy, toy()))).toBe(sorted);
    } finally {
      delete process.env['CDK8S_DISABLE_SORT'];
    }
  });

  test('children see neither status nor versions: what they cannot see cannot make them flap', () => {
    let seen: Resource | undefined;
    const kind = kindWith((_scope, resource) => {
      seen = resource;
    });
    renderChildren(kind, { ...toy({}, { resourceVersion: '5', labels: { a: 'b' } }), status: { x: 1 } });
    expect(seen).toEqual({
      apiVersion: 'engine.test.example.com/v1',
      kind: 'Toy',
      metadata: { name: 'web', namespace: 'shop', uid: 'u1', generation: 1, labels: { a: 'b' } },
      spec: { image: 'nginx:1', hasService: true },
    });
  });
});

describe('what is refused', () => {
  test.each<[RenderFault, Children, RegExp]>([
    [
      'Threw',
      () => {
        throw new Error('no port');
      },
      /rendering the children failed: no port/,
    ],
    ['NoName', (scope) => service(scope, {}), /Service of the construct 'children\/service' has no metadata.name/],
    [
      'Duplicate',
      (scope) => {
        service(scope, { name: 'a' });
        service(scope, { name: 'a' }, {}, 'again');
      },
      /Service a is rendered twice/,
    ],
    [
      'NotOwned',
      (scope) => new ApiObject(scope, 'x', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
      /Secret a \(v1\) is not of a type that Toy owns: apps\/v1 Deployment, v1 Service/,
    ],
    [
      'NotOwned',
      (scope) => new ApiObject(scope, 'x', { apiVersion: 'apps/v1beta1', kind: 'Deployment', metadata: { name: 'a' } }),
      /Deployment a \(apps\/v1beta1\)/,
    ],
    [
      'OtherNamespace',
      (scope) => service(scope, { name: 'a', namespace: 'kube-system' }),
      /Service a is in namespace kube-system: children live in their owner's, shop/,
    ],
    [
      'HasOwner',
      (scope) => service(scope, { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }] }),
      /Service a brings ownerReferences/,
    ],
    ['HasStatus', (scope) => service(scope, { name: 'a' }, { status: { x: 1 } }), /Service a brings a status/],
    [
      'PathLabel',
      (scope) => service(scope, { name: 'a' }, { spec: { selector: { 'cdk8s.io/metadata.addr': 'c8' } } }),
      /cdk8s.io\/metadata.addr/,
    ],
    [
      'Threw',
      (_scope, resource) => {
        Object.assign(resource.spec as object, { image: 'evil' });
      },
      /read only property 'image'/,
    ],
  ])('%s is told in one line: %#', (fault, children, message) => {
    const found = faultOf(children);
    expect(found.fault).toBe(fault);
    expect(found.message).toMatch(message);
    expect(found.message).not.toMatch(/\n/);
  });

  test('the path label that cdk8s-plus puts on pods by itself is found', () => {
    const children: Children = (scope) => {
      new plus.Deployment(scope, 'd', { metadata: { name: 'a' }, containers: [{ image: 'x' }] });
    };
    expect(faultOf(children).fault).toBe('PathLabel');
  });

  test('an asynchronous function is told so, and its own failure is not left unhandled', async () => {
    const children = (async () => Promise.reject(new Error('later'))) as unknown as Children;
    expect(faultOf(children).fault).toBe('NotSynchronous');
    await new Promise(setImmediate);
  });

  test('a child of cluster scope is refused: the garbage collector would take it for an orphan', () => {
    const kind: Kind = {
      ...kindWith((scope) => service(scope, { name: 'a' })),
      owns: [{ group: '', version: 'v1', kind: 'Service', plural: 'services', scope: 'Cluster', statusFields: [] }],
    };
    expect(() => renderChildren(kind, toy())).toThrow('Service a has no namespace');
  });
});

describe('the renderer', () => {
  const counting = () => {
    let renders = 0;
    const kind = kindWith((scope, resource) => {
      renders += 1;
      service(scope, { name: resource.metadata.name });
    });
    return { renderer: new Renderer(kind), renders: () => renders };
  };

  test('renders again when generation, labels or annotations change, and not for anything else', () => {
    const { renderer, renders } = counting();
    const first = renderer.render(toy());
    expect(renderer.render({ ...toy({}, { resourceVersion: '9' }), status: { x: 1 } })).toBe(first);
    expect(renders()).toBe(1);
    renderer.render(toy({}, { generation: 2 }));
    renderer.render(toy({}, { labels: { a: 'b' } }));
    renderer.render(toy({}, { annotations: { a: 'b' } }));
    renderer.render(toy({}, { uid: 'u2' }));
    expect(renders()).toBe(5);
  });

  test('remembers only the last few hundred', () => {
    const { renderer, renders } = counting();
    for (let index = 0; index < 300; index += 1) renderer.render(toy({}, { uid: `u${index}` }));
    renderer.render(toy({}, { uid: 'u299' }));
    expect(renders()).toBe(300);
    renderer.render(toy({}, { uid: 'u0' }));
    expect(renders()).toBe(301);
  });

  test('a failure is not remembered', () => {
    let isBroken = true;
    const renderer = new Renderer(
      kindWith(() => {
        if (isBroken) throw new Error('no');
      }),
    );
    expect(() => renderer.render(toy())).toThrow(RenderError);
    isBroken = false;
    expect(renderer.render(toy())).toEqual([]);
  });
});
