import { Button } from "@mantine/core";
import { Link } from "wouter";
import { paths } from "@/app/paths";
import { EmptyState } from "./EmptyState";

export function NotFound() {
  return (
    <EmptyState
      isPage
      title="There is no such page"
      action={
        <Button component={Link} href={paths.home} variant="default">
          To the pipelines
        </Button>
      }
    />
  );
}
