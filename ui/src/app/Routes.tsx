import { lazy, Suspense } from "react";
import { Route, Switch } from "wouter";
import { Loading } from "@/shared/Loading";
import { NotFound } from "@/shared/NotFound";

const EditorPage = lazy(() => import("@/editor/EditorPage"));
const StartPage = lazy(() => import("@/pages/StartPage"));
const TopicsPage = lazy(() => import("@/pages/TopicsPage"));
const VersionsPage = lazy(() => import("@/pages/VersionsPage"));

const decoded = (text: string | undefined) => decodeURIComponent(text ?? "");

export function Routes() {
  return (
    <Suspense fallback={<Loading what="the page" />}>
      <Switch>
        <Route path="/">{() => <StartPage />}</Route>
        <Route path="/topics">{() => <TopicsPage topic={null} />}</Route>
        <Route path="/topics/:topic">{({ topic }) => <TopicsPage topic={decoded(topic)} />}</Route>
        <Route path="/pipelines/:name/versions">
          {({ name }) => <VersionsPage pipeline={decoded(name)} />}
        </Route>
        <Route path="/pipelines/:name">
          {({ name }) => <EditorPage key={name} pipeline={decoded(name)} />}
        </Route>
        <Route>{() => <NotFound />}</Route>
      </Switch>
    </Suspense>
  );
}
