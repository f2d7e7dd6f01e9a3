-- camarb's part of WirePlumber 0.5: chooses, for each program that wants one of camarb's cameras, the node that camagent keeps
-- for that program alone. What a doorway and a private node are, ../0.4/camarb.lua says, which does the same for 0.4.
--
-- 0.5 asks its hooks for a target whenever something changes, so that nothing has to be held here: while a program's private
-- node is not there the event ends without a target, and when it appears WirePlumber asks again. Which node a program means is
-- WirePlumber's to find out, also where that is the default one because the one that was named is not there.

-- 0.4 reads wireplumber.conf.d as well, and ends where a script fails that stands there.
if not SimpleEventHook then return end

local lutils = require("linking-utils")
local log = Log.open_topic("s-camarb")

-- How long a program waits for its private node before it is linked to the doorway, in milliseconds.
local PRIVATE_NODE_TIME = 5000

-- Not local, so that it lives as long as WirePlumber: by the item's id, when it was seen first, and whether that is too long ago.
camarb = {
  metadata = ObjectManager {
    Interest { type = "metadata", Constraint { "metadata.name", "=", "default" } },
  },
  -- Programs that the desktop portal let in.
  portal_clients = ObjectManager {
    Interest { type = "client", Constraint { "pipewire.access", "=", "portal" } },
  },
  waiting = {},
}

local function isConsumer(properties)
  return properties["media.type"] == "Video" and properties["item.node.direction"] == "input"
    and properties["item.node.type"] == "stream"
end

-- The doorway that an item is, or is behind, by its name. An item that means another's private node means its doorway: what is
-- shown there is for one program alone.
local function doorwayNameOf(properties)
  if properties["node.camarb.doorway"] == "true" then return properties["node.name"] end
  return properties["node.camarb.camera"]
end

local function isOverdue(source, item)
  local id = item.id
  if camarb.waiting[id] == nil then
    camarb.waiting[id] = false
    Core.timeout_add(PRIVATE_NODE_TIME, function()
      camarb.waiting[id] = true
      source:call("push-event", "rescan-for-linking", nil, nil)
      return false
    end)
  end
  return camarb.waiting[id]
end

-- PipeWire 1.x links nobody to what it does not see, and the portal's programs see cameras alone, as WirePlumber gives them the right to
-- (client/access-portal.lua, whose rule this is). So each is shown its own node, which has no other use for anybody.
local function show(private, properties)
  local client = camarb.portal_clients:lookup { Constraint { "bound-id", "=", properties["client.id"], type = "gobject" } }
  if not client then return end
  local app = client.properties["pipewire.access.portal.app_id"]
  local roles = client.properties["pipewire.access.portal.media_roles"]
  if app == "" or (app and roles and roles:find("Camera", 1, true)) then
    client:update_permissions { [private["bound-id"]] = "r" }
  end
end

-- Before WirePlumber looks: camagent has looked as well, also before it was restarted, when numbers of nodes were others.
SimpleEventHook {
  name = "linking/find-camarb-target",
  before = { "linking/find-defined-target", "linking/find-filter-target", "linking/find-media-role-target" },
  interests = {
    EventInterest { Constraint { "event.type", "=", "select-target" } },
  },
  execute = function(event)
    local _, items, item, properties, flags, target = lutils:unwrap_select_target_event(event)
    if target or not isConsumer(properties) then return end
    local private = items:lookup {
      type = "SiLinkable",
      Constraint { "node.camarb.consumer", "=", properties["node.id"] },
    }
    if not private then return end
    log:info(item, "camarb: " .. tostring(properties["node.id"]) .. " has its own node")
    event:set_data("target", private)
    if flags.peer_id == private.id then return end
    show(private:get_associated_proxy("node"), properties)
    -- It was linked before: to the doorway, or to a node of an agent that crashed. Most programs ask WirePlumber to make no other link
    -- then (node.dont-reconnect). Browsers go on with one; GStreamer 1.26 ends.
    if flags.was_handled and flags.failed_peer_id ~= private.id then
      local link = flags.peer_id and lutils.lookupLink(item.id, flags.peer_id)
      if link then link:remove() end
      lutils:clear_flags(item.id)
    end
  end,
}:register()

-- After it has looked, and before anything is linked.
SimpleEventHook {
  name = "linking/hold-for-camarb",
  after = {
    "linking/find-defined-target", "linking/find-filter-target", "linking/find-media-role-target", "linking/find-default-target",
    "linking/find-best-target",
  },
  before = { "linking/get-filter-from-target", "linking/prepare-link" },
  interests = {
    EventInterest { Constraint { "event.type", "=", "select-target" } },
  },
  execute = function(event)
    local source, items, item, properties, _, target = lutils:unwrap_select_target_event(event)
    if not target or not isConsumer(properties) then return end
    local name = doorwayNameOf(target.properties)
    if not name or target.properties["node.camarb.consumer"] == properties["node.id"] then return end
    if isOverdue(source, item) then
      event:set_data("target", items:lookup {
        type = "SiLinkable",
        Constraint { "node.name", "=", name }, Constraint { "node.camarb.doorway", "=", "true" },
      })
    else
      event:stop_processing()
    end
  end,
}:register()

-- By this camagent knows that somebody links programs to their nodes, and tells its user where nobody does.
camarb.metadata:connect("object-added", function(_, metadata)
  metadata:set(0, "camarb.linking", "", "camarb.lua")
end)
camarb.metadata:activate()
camarb.portal_clients:activate()
