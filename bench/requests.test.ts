import { describe, expect, test } from '@jest/globals';
import { between, requestsIn, requestsOf, without, writesIn } from './requests.ts';

const line = (
  verb: string,
  group: string,
  resource: string,
  rest: { subresource?: string; code?: string; value: number },
) =>
  `apiserver_request_total{code="${rest.code ?? '200'}",component="apiserver",dry_run="",group="${group}",resource="${resource}",` +
  `scope="resource",subresource="${rest.subresource ?? ''}",verb="${verb}",version="v1"} ${rest.value}`;

const metrics = [
  line('POST', 'apps', 'deployments', { code: '201', value: 7 }),
  line('POST', 'apps', 'deployments', { code: '409', value: 1 }),
  line('PATCH', 'webserver.example.com', 'webservers', { subresource: 'status', value: 5 }),
  line('GET', '', 'services', { value: 2 }),
  line('WATCH', '', 'services', { value: 4 }),
  line('GET', '', 'endpoints', { value: 100 }),
  line('POST', 'example.com', 'deployments', { value: 100 }),
  line('PUT', 'coordination.k8s.io', 'leases', { value: 100 }),
  line('GET', 'discovery.k8s.io', 'endpointslices', { value: 100 }),
  line('GET', '', '', { subresource: '/readyz', value: 100 }),
  'apiserver_request_duration_seconds_count{verb="POST",resource="pods"} 3',
].join('\n');

const types = [
  { group: 'apps', plural: 'deployments' },
  { group: '', plural: 'services' },
  { group: 'webserver.example.com', plural: 'webservers' },
];

describe('requests', () => {
  test('are counted by verb and resource, refused ones too, for these types only and without watches', () => {
    expect(Object.fromEntries(requestsOf(metrics, types))).toEqual({
      'POST deployments.apps': 8,
      'PATCH webservers.webserver.example.com/status': 5,
      'GET services': 2,
    });
  });

  test('between two looks are the difference, new kinds of requests too', () => {
    const before = new Map([
      ['GET pods', 3],
      ['POST pods', 1],
    ]);
    const after = new Map([
      ['GET pods', 3],
      ['POST pods', 4],
      ['APPLY pods', 2],
    ]);
    expect([...between(before, after)]).toEqual([
      ['POST pods', 3],
      ['APPLY pods', 2],
    ]);
  });

  test('of others are taken off, down to a missing one', () => {
    const all = new Map([
      ['POST webservers', 20],
      ['POST services', 20],
    ]);
    expect([...without(all, new Map([['POST webservers', 20]]))]).toEqual([['POST services', 20]]);
    expect([...without(all, new Map([['POST webservers', 21]]))]).toEqual([
      ['POST webservers', -1],
      ['POST services', 20],
    ]);
  });

  test('are writes when they can change something', () => {
    const all = new Map(
      ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION', 'GET', 'LIST', 'WATCH'].map((verb) => [
        `${verb} pods`,
        1,
      ]),
    );
    expect(writesIn(all)).toBe(6);
    expect([requestsIn(all, 'GET'), requestsIn(all, 'LIST'), requestsIn(new Map(), 'LIST')]).toEqual([1, 1, 0]);
  });
});
