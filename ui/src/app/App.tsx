import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { useState } from "react";
import { Router } from "wouter";
import { useHashLocation, useHashSearch } from "./hashLocation";
import { createQueryClient } from "./queryClient";
import { Routes } from "./Routes";
import { Shell } from "./Shell";
import { theme, themeVariables } from "./theme";

export function App() {
  const [queryClient] = useState(createQueryClient);
  return (
    <MantineProvider theme={theme} cssVariablesResolver={themeVariables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" limit={3} />
        <Router hook={useHashLocation} searchHook={useHashSearch}>
          <Shell>
            <Routes />
          </Shell>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  );
}
